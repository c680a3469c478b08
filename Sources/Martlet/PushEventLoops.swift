// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport
internal import Synchronization

/// Event loop threads that several clients share.
///
/// A client has a thread of its own by default. Let clients share a few threads in a process with a client for each of
/// many teams:
///
/// ```swift
/// let loops = try PushEventLoops(count: 2)
/// let configuration = PushClient.Configuration(sharedEventLoops: loops)
/// let clients = try keys.map { try PushClient(authentication: .token($0), configuration: configuration) }
/// ```
///
/// Each client uses as many of the loops as ``PushClient/Configuration/eventLoops`` says, 1 by default; new clients are
/// distributed over the loops in turn. Closing a client does not affect the others. The threads end when the last
/// client and the last other reference are released.
public final class PushEventLoops: Sendable {
    private let loops: [EventLoop]
    /// The number of loops that clients have taken so far, which selects the next one.
    private let takenCount = Atomic<UInt>(0)

    /// Starts the threads.
    ///
    /// - Parameter count: The number of threads, at least 1. One is enough for several ten thousand pushes per second.
    /// - Throws: ``APNsError`` with the code `system` when no descriptors or threads are available.
    public convenience init(count: Int) throws(APNsError) {
        do throws(TransportError) {
            try self.init(count, clock: nil)
        } catch {
            throw APNsError(error)
        }
    }

    /// Starts the threads with a clock that a test advances manually, or with the system's.
    init(_ count: Int, clock: ManualClock?) throws(TransportError) {
        var loops: [EventLoop] = []
        do throws(TransportError) {
            for _ in 0..<max(1, count) { loops.append(try EventLoop(clock: clock)) }
        } catch {
            for loop in loops { loop.shutdown() }
            throw error
        }
        self.loops = loops
    }

    deinit {
        for loop in loops { loop.shutdown() }
    }

    /// Returns the loops for another client, at least one and at most all.
    func take(_ count: Int) -> [EventLoop] {
        let count = UInt(min(max(1, count), loops.count))
        let first = takenCount.wrappingAdd(count, ordering: .relaxed).oldValue
        return (0..<count).map { loops[Int((first &+ $0) % UInt(loops.count))] }
    }
}
