// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A server that accepts connections and sends nothing, except with ``answerOnce(with:)``.
package final class SilentServer: Sendable {
    package let port: UInt16
    private let descriptor: CInt

    package init() throws {
        let (descriptor, address) = try SocketAddressOnLoopback.bound()
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard listen(descriptor, 5) == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits until a client connects, for 10 seconds at most.
    package func waitForClient() async {
        let descriptor = descriptor
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&watched, 1, 10_000)
                continuation.resume()
            }
        }
    }

    /// Accepts one client, waits for its first bytes, sends a response, and closes the connection.
    package func answerOnce(with bytes: [UInt8]) {
        // The thread keeps the server, so that its socket is closed after the call.
        Thread.detachNewThread { [self] in
            let client = accept(descriptor, nil, nil)
            var received = [UInt8](repeating: 0, count: 4_096)
            _ = recv(client, &received, received.count, 0)
            _ = send(client, bytes, bytes.count, SendFlags.noSignal)
            shutdown(client, CInt(SHUT_WR))
            while recv(client, &received, received.count, 0) > 0 {}
            close(client)
        }
    }

    /// Accepts every client, and resets the connection after its first bytes.
    package func resetClients() {
        Thread.detachNewThread { [self] in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                _ = recv(client, &bytes, bytes.count, 0)
                // Closing without lingering sends RST.
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
                close(client)
            }
        }
    }

    private static let usedPorts = Mutex<Set<UInt16>>([])

    /// Reserves a port without a listener, below the range of ephemeral ports.
    package static func unusedPort() throws -> ReservedPort {
        var found: (CInt, sockaddr_in)?
        for _ in 0..<100 where found == nil {
            let port = UInt16.random(in: 12_000..<32_000)
            // Do not return a port twice: a server that a test restarts is about to use it again.
            guard usedPorts.withLock({ $0.insert(port).inserted }) else { continue }
            found = try? SocketAddressOnLoopback.bound(to: port)
        }
        guard let (descriptor, address) = found else { throw POSIXError(.EADDRINUSE) }
        return ReservedPort(descriptor: descriptor, port: UInt16(bigEndian: address.sin_port))
    }
}

/// A bound port without a listener, so that connections are refused; `deinit` releases it.
package final class ReservedPort: Sendable {
    package let port: UInt16
    private let descriptor: CInt

    fileprivate init(descriptor: CInt, port: UInt16) {
        self.descriptor = descriptor
        self.port = port
    }

    deinit {
        close(descriptor)
    }
}

enum SocketAddressOnLoopback {
    /// Returns a socket that is connected to a port of a loopback address, with an optional size of its receive buffer.
    static func connected(
        to port: UInt16,
        at host: UInt32 = 0x7F00_0001,
        receiveBuffer: Int32? = nil
    ) throws -> CInt {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return descriptor
    }

    /// Returns a socket that is bound to a port, by default a free one.
    static func bound(to port: UInt16 = 0) throws -> (CInt, sockaddr_in) {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) | getsockname(descriptor, pointer, &length)
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
        return (descriptor, address)
    }
}
