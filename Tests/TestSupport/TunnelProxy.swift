// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// An HTTP proxy whose tunnels all lead to one server on this machine, for tests with host names that do not resolve.
package final class TunnelProxy: Sendable {
    private let listener: LoopbackListener
    private let server = Mutex<UInt16>(0)
    private let heads = Mutex<[String]>([])

    package var port: UInt16 { listener.port }
    /// The heads of the requests for tunnels.
    package var requests: [String] { heads.withLock { $0 } }

    /// Listens for clients.
    ///
    /// - Parameter server: The server's port; tests that learn it later call ``lead(to:)``.
    /// - Throws: An error of the system.
    package init(to server: UInt16 = 0) throws {
        listener = try LoopbackListener()
        lead(to: server)
        listener.start { client in
            Thread.detachNewThread { self.serve(client) }
        }
    }

    /// Lets later tunnels lead to a server.
    package func lead(to server: UInt16) {
        self.server.withLock { $0 = server }
    }

    /// Stops listening; open tunnels stay open.
    package func stop() {
        listener.stop()
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
        forward(between: client, and: upstream)
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
}
