// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A proxy before PostgreSQL that discards notifications, as a connection pooler in transaction mode does.
///
/// Clients must connect without TLS, with `sslmode=disable` and `gssencmode=disable`.
package final class NotificationFilter: Sendable {
    package let port: UInt16
    private let descriptor: CInt

    /// Listens for clients of the server.
    ///
    /// - Parameter server: The server's port.
    /// - Throws: An error of the system.
    package init(to server: UInt16) throws {
        let (descriptor, address) = try SocketAddressOnLoopback.bound()
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let upstream = try? SocketAddressOnLoopback.connected(to: server) else {
                    close(client)
                    continue
                }
                Thread.detachNewThread { NotificationFilter.forward(client, upstream) { bytes in bytes } }
                Thread.detachNewThread {
                    var rest: [UInt8] = []
                    NotificationFilter.forward(upstream, client) { bytes in
                        rest += bytes
                        return NotificationFilter.takeMessages(from: &rest)
                    }
                    for socket in [client, upstream] { close(socket) }
                }
            }
        }
    }

    /// Stops listening; open connections stay open.
    package func stop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    /// Removes the complete messages, and returns those that are not notifications.
    ///
    /// A message has its type, and its length of four bytes that counts itself.
    private static func takeMessages(from bytes: inout [UInt8]) -> [UInt8] {
        var passed: [UInt8] = []
        while bytes.count >= 5 {
            let length = 1 + bytes[1...4].reduce(0) { $0 << 8 | Int($1) }
            guard bytes.count >= length else { break }
            if bytes[0] != UInt8(ascii: "A") { passed += bytes[..<length] }
            bytes.removeFirst(length)
        }
        return passed
    }

    /// Forwards bytes until one side closes, and then ends both directions.
    private static func forward(_ from: CInt, _ to: CInt, _ change: ([UInt8]) -> [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
            var rest = change(Array(bytes[..<count]))[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, SendFlags.noSignal) }
                guard sent > 0 else { break }
                rest = rest.dropFirst(sent)
            }
        }
        for socket in [from, to] { shutdown(socket, CInt(SHUT_RDWR)) }
    }
}
