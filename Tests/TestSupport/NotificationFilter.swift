// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A proxy before PostgreSQL that discards notifications, as a connection pooler in transaction mode does.
///
/// Clients must connect without TLS, with `sslmode=disable` and `gssencmode=disable`.
package final class NotificationFilter: Sendable {
    private let listener: LoopbackListener

    package var port: UInt16 { listener.port }

    /// Listens for clients of the server.
    ///
    /// - Parameter server: The server's port.
    /// - Throws: An error of the system.
    package init(to server: UInt16) throws {
        listener = try LoopbackListener()
        listener.start { client in
            guard let upstream = try? SocketAddressOnLoopback.connected(to: server) else {
                close(client)
                return
            }
            let rest = SharedValue<[UInt8]>([])
            forward(
                between: client,
                and: upstream,
                fromServer: { bytes in
                    rest.withLock { rest in
                        rest += bytes
                        return NotificationFilter.takeMessages(from: &rest)
                    }
                }
            )
        }
    }

    /// Stops listening; open connections stay open.
    package func stop() {
        listener.stop()
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
}
