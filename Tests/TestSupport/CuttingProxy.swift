// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A proxy that forwards bytes to a server on this machine and cuts each connection after a random number of bytes.
package final class CuttingProxy: Sendable {
    package let port: UInt16
    private let descriptor: CInt
    private let server: UInt16
    private let cutCount = Mutex(0)
    private let longest: Int

    /// The number of connections that have been cut.
    package var cuts: Int { cutCount.withLock { $0 } }

    /// Listens for clients of the server.
    ///
    /// - Parameters:
    ///   - server: The server's port.
    ///   - longest: The maximum number of bytes that a connection forwards, in both directions together.
    /// - Throws: An error of the system.
    package init(to server: UInt16, longest: Int) throws {
        self.server = server
        self.longest = longest
        let (descriptor, address) = try SocketAddressOnLoopback.bound()
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                serve(client)
            }
        }
    }

    /// Stops listening; open connections stay open until they are cut.
    package func stop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    private func serve(_ client: CInt) {
        guard let upstream = try? SocketAddressOnLoopback.connected(to: server) else {
            close(client)
            return
        }
        let budget = Budget(Int.random(in: 2_000...longest))
        for (from, to) in [(client, upstream), (upstream, client)] {
            Thread.detachNewThread { [self] in
                if !pass(from, to, budget) { cutCount.withLock { $0 += 1 } }
                // Both directions end together; the last one closes the sockets.
                shutdown(from, CInt(SHUT_RDWR))
                shutdown(to, CInt(SHUT_RDWR))
                if budget.leave() { for socket in [client, upstream] { close(socket) } }
            }
        }
    }

    /// Forwards bytes until one side closes; returns false if the budget is used up before.
    private func pass(_ from: CInt, _ to: CInt, _ budget: Budget) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(from, &bytes, bytes.count, 0)
            guard count > 0 else { return true }
            guard budget.spend(count) else { return false }
            var sent = 0
            while sent < count {
                let more = bytes[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, SendFlags.noSignal)
                }
                guard more > 0 else { return true }
                sent += more
            }
        }
    }

    /// The remaining bytes of a connection, and the number of its open directions.
    private final class Budget: Sendable {
        private let left: Mutex<Int>
        private let directions = Mutex(2)

        init(_ bytes: Int) {
            left = Mutex(bytes)
        }

        func spend(_ count: Int) -> Bool {
            left.withLock { left in
                left -= count
                return left > 0
            }
        }

        func leave() -> Bool {
            directions.withLock { directions in
                directions -= 1
                return directions == 0
            }
        }
    }
}
