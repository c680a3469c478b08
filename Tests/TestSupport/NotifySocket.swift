// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A datagram socket that receives a service's notifications, as systemd does (sd_notify(3)).
package final class NotifySocket: Sendable {
    /// The received assignments, and the tests that wait for others.
    private final class Assignments: Sendable {
        struct State {
            var received: [String] = []
            var waiting: [Int: (assignment: String, count: Int, CheckedContinuation<Void, Never>)] = [:]
            var lastWaiter = 0
        }

        let state = Mutex(State())

        func receive(_ lines: [String]) {
            state.withLock { state in
                state.received += lines
                for (number, (assignment, count, continuation)) in state.waiting
                where state.received.count(where: { $0.hasPrefix(assignment) }) >= count {
                    state.waiting[number] = nil
                    continuation.resume()
                }
            }
        }

        /// Resumes a waiting test that was cancelled.
        func cancel(_ number: Int) {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.2.resume()
        }
    }

    package let path: String
    private let descriptor: Int32
    private let scratch: ScratchDirectory
    private let assignments = Assignments()

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
        // Read continuously, because the socket's buffer is small.
        Thread.detachNewThread { [descriptor, assignments] in
            var piece = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &piece, piece.count, 0)
                guard count > 0 else { break }
                let text = String(decoding: piece[..<count], as: UTF8.self)
                assignments.receive(text.split(separator: "\n").map(String.init))
            }
            close(descriptor)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// All received assignments, in order.
    package var all: [String] { assignments.state.withLock(\.received) }

    /// Waits until an assignment was received `count` times, or the test is cancelled.
    package func wait(for assignment: String, count: Int = 1) async {
        let number = assignments.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                assignments.state.withLock { $0.waiting[number] = (assignment, count, continuation) }
                assignments.receive([])
                // A test that was cancelled before has no further call of the cancellation handler.
                if Task.isCancelled { assignments.cancel(number) }
            }
        } onCancel: {
            assignments.cancel(number)
        }
    }
}
