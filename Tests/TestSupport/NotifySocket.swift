import Foundation
import Synchronization

/// Plays the part of systemd: a datagram socket that a service tells how it is.
package final class NotifySocket: Sendable {
    /// What was heard, and who waits for more.
    private final class Ear: Sendable {
        struct State {
            var heard: [String] = []
            var waiting: [Int: (assignment: String, count: Int, CheckedContinuation<Void, Never>)] = [:]
            var lastWaiter = 0
        }

        let state = Mutex(State())

        func hear(_ lines: [String]) {
            state.withLock { state in
                state.heard += lines
                for (number, (assignment, count, continuation)) in state.waiting
                where state.heard.count(where: { $0.hasPrefix(assignment) }) >= count {
                    state.waiting[number] = nil
                    continuation.resume()
                }
            }
        }

        /// Lets a waiter go that has nothing to hear any more.
        func leave(_ number: Int) {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.2.resume()
        }
    }

    package let path: String
    private let descriptor: Int32
    private let scratch: ScratchDirectory
    private let ear = Ear()

    package init() throws {
        scratch = try ScratchDirectory()
        path = scratch.path + "/notify"
        #if canImport(Darwin)
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw POSIXError(.EADDRINUSE) }
        // Always, since what the system holds for a reader is little.
        Thread.detachNewThread { [descriptor, ear] in
            var piece = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &piece, piece.count, 0)
                guard count > 0 else { break }
                ear.hear(String(decoding: piece[..<count], as: UTF8.self).split(separator: "\n").map(String.init))
            }
            close(descriptor)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// All assignments so far, in their order.
    package var all: [String] { ear.state.withLock(\.heard) }

    /// Waits until an assignment has come `count` times, or the test has taken too long.
    package func wait(for assignment: String, count: Int = 1) async {
        let number = ear.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ear.state.withLock { $0.waiting[number] = (assignment, count, continuation) }
                ear.hear([])
                // A test that is over already was told so before anybody waited here.
                if Task.isCancelled { ear.leave(number) }
            }
        } onCancel: {
            ear.leave(number)
        }
    }
}
