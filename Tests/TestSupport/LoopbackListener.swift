// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A listening socket on the loopback address, whose clients are accepted on a thread of its own.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let isListening = Mutex(true)

    /// Listens on a free port.
    ///
    /// - Throws: An error of the system.
    init() throws {
        let (descriptor, address) = try SocketAddressOnLoopback.bound()
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    /// Accepts clients until ``stop()``.
    ///
    /// - Parameter serve: Takes over the socket of each client, on the thread that accepts.
    func start(serve: @escaping @Sendable (CInt) -> Void) {
        Thread.detachNewThread { [self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard isListening.withLock({ $0 }) else {
                    close(client)
                    break
                }
                serve(client)
            }
            isListening.withLock { $0 = false }
            // Only this thread closes: another one could do so before an `accept`, which would then take the clients of
            // the next socket with the same number.
            close(descriptor)
        }
    }

    /// Refuses later clients.
    func stop() {
        let isWoken = isListening.withLock { isListening in
            // The thread may have closed the socket already, whose number another one may have then.
            guard isListening else { return true }
            isListening = false
            // On Linux this wakes the thread; elsewhere it fails, and a client does.
            return shutdown(descriptor, CInt(SHUT_RDWR)) == 0
        }
        guard !isWoken else { return }
        if let client = try? SocketAddressOnLoopback.connected(to: port) { close(client) }
    }
}

/// Forwards the bytes between two sockets on two threads until one side closes, and then closes both sockets.
///
/// - Parameters:
///   - client: The socket of a client.
///   - server: The socket of a server.
///   - fromClient: Returns the bytes that the server gets for received ones; nil ends the connection.
///   - fromServer: Returns the bytes that the client gets for received ones; nil ends the connection.
func forward(
    between client: CInt,
    and server: CInt,
    fromClient: @escaping @Sendable ([UInt8]) -> [UInt8]? = { $0 },
    fromServer: @escaping @Sendable ([UInt8]) -> [UInt8]? = { $0 }
) {
    let openDirections = SharedValue(2)
    for (from, to, change) in [(client, server, fromClient), (server, client, fromServer)] {
        Thread.detachNewThread {
            forward(from, to, change)
            for socket in [from, to] { shutdown(socket, CInt(SHUT_RDWR)) }
            // Before both have ended, another socket would get a number that is still used.
            let isLast = openDirections.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { for socket in [client, server] { close(socket) } }
        }
    }
}

private func forward(_ from: CInt, _ to: CInt, _ change: ([UInt8]) -> [UInt8]?) {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
        guard var rest = change(Array(bytes[..<count]))?[...] else { return }
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, SendFlags.noSignal) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }
}

/// A value with a lock, which the closures of several threads share.
final class SharedValue<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}
