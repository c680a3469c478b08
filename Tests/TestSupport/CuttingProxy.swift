// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A proxy that forwards bytes to a server on this machine and cuts each connection after a random number of bytes.
package final class CuttingProxy: Sendable {
    private let listener: LoopbackListener
    private let server: UInt16
    private let cutCount = Mutex(0)
    private let longest: Int

    package var port: UInt16 { listener.port }
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
        listener = try LoopbackListener()
        listener.start { self.serve($0) }
    }

    /// Stops listening; open connections stay open until they are cut.
    package func stop() {
        listener.stop()
    }

    private func serve(_ client: CInt) {
        guard let upstream = try? SocketAddressOnLoopback.connected(to: server) else {
            close(client)
            return
        }
        let left = SharedValue(Int.random(in: 2_000...longest))
        let spend: @Sendable ([UInt8]) -> [UInt8]? = { bytes in
            let isCut = left.withLock { left in
                left -= bytes.count
                return left <= 0
            }
            guard isCut else { return bytes }
            self.cutCount.withLock { $0 += 1 }
            return nil
        }
        forward(between: client, and: upstream, fromClient: spend, fromServer: spend)
    }
}
