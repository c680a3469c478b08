// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A TCP client that sends arbitrary bytes.
package final class RawClient: Sendable {
    private let descriptor: CInt

    /// Connects.
    ///
    /// - Parameters:
    ///   - port: The port on this machine.
    ///   - host: The loopback address as a number; by default 127.0.0.1.
    ///   - receiveBuffer: The size of the receive buffer in bytes; nil for the system's default.
    /// - Throws: An error of the system if no server listens on the port.
    package init(port: UInt16, at host: UInt32 = 0x7F00_0001, receiveBuffer: Int32? = nil) throws {
        descriptor = try SocketAddressOnLoopback.connected(to: port, at: host, receiveBuffer: receiveBuffer)
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Sends a text; a closed connection is not an error.
    package func send(_ text: String) {
        send(Array(text.utf8))
    }

    package func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write($0) }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Resets the connection on close: many connections closed in order would leave ports in TIME_WAIT for a minute.
    package func resetOnClose() {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the sending side of the connection.
    package func finish() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, SendFlags.noSignal)
        #else
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, SendFlags.noSignal)
        #endif
    }

    /// Reads until the text has arrived, or until the peer closes or sends nothing for 20 seconds; without a text, all.
    package func read(until end: String? = nil) async -> String {
        let bytes = await bytes { received in
            end.map { String(decoding: received, as: UTF8.self).contains($0) } ?? false
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads until `isEnough` returns true, or until the peer closes or sends nothing for 20 seconds.
    package func bytes(until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) async -> [UInt8] {
        await onOwnThread { self.bytesBlocking(until: isEnough) }
    }

    /// Sends until everything is sent or the connection fails.
    package func sendAll(_ bytes: [UInt8]) async {
        await onOwnThread { self.send(bytes) }
    }

    /// Sends as many bytes as possible without blocking, and returns their number.
    package func sendSome(_ bytes: some Collection<UInt8>) -> Int {
        let bytes = Array(bytes)
        #if canImport(Glibc)
            return max(0, Glibc.send(descriptor, bytes, bytes.count, SendFlags.noSignal | CInt(MSG_DONTWAIT)))
        #else
            return max(0, Darwin.send(descriptor, bytes, bytes.count, SendFlags.noSignal | MSG_DONTWAIT))
        #endif
    }

    /// Sends until the peer stops reading.
    ///
    /// - Parameters:
    ///   - more: The next bytes to send.
    ///   - turn: Lets the peer run.
    /// - Returns: Whether the peer read nothing for twenty turns; false after 64 MiB.
    package func stall(sending more: () -> [UInt8], turn: () async throws -> Void) async rethrows -> Bool {
        var rest: ArraySlice<UInt8> = []
        var (sent, stalledTurns) = (0, 0)
        while stalledTurns < 20, sent < 64 << 20 {
            if rest.isEmpty { rest = more()[...] }
            let count = sendSome(rest)
            rest = rest.dropFirst(count)
            sent += count
            stalledTurns = count == 0 ? stalledTurns + 1 : 0
            if count == 0 { try await turn() }
        }
        return stalledTurns == 20
    }

    /// Whether unread bytes have arrived, or the peer has closed the connection.
    package var hasNews: Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    /// Sends one byte every 0.1 seconds for twenty seconds; returns whether the peer answers or closes in that time.
    package func drip(_ byte: UInt8) async -> Bool {
        await onOwnThread {
            var watched = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            for _ in 0..<200 {
                guard poll(&watched, 1, 100) == 0 else { return true }
                self.send([byte])
            }
            return false
        }
    }

    /// Waits until the peer closes; returns false if it sends something, or nothing for 20 seconds.
    package func isClosedByPeer() async -> Bool {
        await onOwnThread {
            var byte: UInt8 = 0
            let count = recv(self.descriptor, &byte, 1, 0)
            return count == 0 || count < 0 && errno == ECONNRESET
        }
    }

    /// Reads like ``bytes(until:)``, but blocks the thread.
    package func bytesBlocking(until isEnough: ([UInt8]) -> Bool) -> [UInt8] {
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !isEnough(received) {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            received += piece[..<count]
        }
        return received
    }
}

/// Runs a blocking function on a separate thread, because the tests' pool has few threads.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
