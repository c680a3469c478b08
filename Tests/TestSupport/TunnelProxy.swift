// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// An HTTP proxy whose tunnels all lead to one server on this machine, for tests with host names that do not resolve.
package final class TunnelProxy: Sendable {
    package let port: UInt16
    private let descriptor: CInt
    private let server = Mutex<UInt16>(0)
    private let heads = Mutex<[String]>([])

    /// The heads of the requests for tunnels.
    package var requests: [String] { heads.withLock { $0 } }

    /// Listens for clients.
    ///
    /// - Parameter server: The server's port; tests that learn it later call ``lead(to:)``.
    /// - Throws: An error of the system.
    package init(to server: UInt16 = 0) throws {
        let (descriptor, address) = try SocketAddressOnLoopback.bound()
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        lead(to: server)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    /// Lets later tunnels lead to a server.
    package func lead(to server: UInt16) {
        self.server.withLock { $0 = server }
    }

    /// Stops listening; open tunnels stay open.
    package func stop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    private func serve(_ client: CInt) {
        let head = TunnelProxy.head(from: client)
        heads.withLock { $0.append(head) }
        guard head.hasPrefix("CONNECT "),
            let upstream = try? SocketAddressOnLoopback.connected(to: server.withLock { $0 })
        else {
            close(client)
            return
        }
        let answer = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        _ = send(client, answer, answer.count, SendFlags.noSignal)
        let openDirections = DirectionCount()
        for (from, to) in [(client, upstream), (upstream, client)] {
            Thread.detachNewThread {
                TunnelProxy.pass(from, to)
                // Both directions end together; the last one closes the sockets.
                shutdown(from, CInt(SHUT_RDWR))
                shutdown(to, CInt(SHUT_RDWR))
                if openDirections.leave() { for socket in [client, upstream] { close(socket) } }
            }
        }
    }

    /// Reads the head of a request byte by byte, because the bytes after it are for the server.
    private static func head(from client: CInt) -> String {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while head.count < 16_384, !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(client, &byte, 1, 0) == 1 {
            head.append(byte)
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Forwards bytes until one side closes.
    private static func pass(_ from: CInt, _ to: CInt) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(from, &bytes, bytes.count, 0)
            guard count > 0 else { return }
            var sent = 0
            while sent < count {
                let more = bytes[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, SendFlags.noSignal)
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }

    /// The number of open directions of a tunnel.
    private final class DirectionCount: Sendable {
        private let count = Mutex(2)

        /// Ends a direction; returns whether it was the last one.
        func leave() -> Bool {
            count.withLock { count in
                count -= 1
                return count == 0
            }
        }
    }
}
