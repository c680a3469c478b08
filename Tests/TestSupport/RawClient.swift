import Foundation

/// A client that sends exactly the bytes it is told to, as curl never would.
package final class RawClient: Sendable {
    private let descriptor: CInt

    /// Connects.
    ///
    /// - Parameters:
    ///   - port: Where to.
    ///   - receiveBuffer: Bytes that may wait to be read here; by default what the system gives.
    /// - Throws: An error of the system when nobody listens there.
    package init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = try SocketAddressOnLoopback.connected(to: port, receiveBuffer: receiveBuffer)
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Sends the text; a peer that has gone is not an error here.
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

    /// Has the connection end with a reset: many that ended in order would keep their ports taken for a minute.
    package func resetOnClose() {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    /// Says that nothing more will come.
    package func finish() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #else
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #endif
    }

    /// Reads until the text has arrived, or until the peer closes or falls silent; without a text, until the end.
    package func read(until end: String? = nil) async -> String {
        let bytes = await bytes { received in
            end.map { String(decoding: received, as: UTF8.self).contains($0) } ?? false
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads until it is enough, or until the peer closes or falls silent.
    package func bytes(until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) async -> [UInt8] {
        await onOwnThread { self.bytesBlocking(until: isEnough) }
    }

    /// Sends until everything is sent or the peer has gone.
    package func sendAll(_ bytes: [UInt8]) async {
        await onOwnThread { self.send(bytes) }
    }

    /// Sends as much as fits without waiting, and tells how much that was.
    package func sendSome(_ bytes: some Collection<UInt8>) -> Int {
        let bytes = Array(bytes)
        #if canImport(Glibc)
            return max(0, Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)))
        #else
            return max(0, Darwin.send(descriptor, bytes, bytes.count, MSG_DONTWAIT))
        #endif
    }

    /// Sends until the peer takes nothing more.
    ///
    /// - Parameters:
    ///   - more: The next bytes to send.
    ///   - turn: Gives the peer the chance to read.
    /// - Returns: Whether nothing was taken for twenty turns; false when whatever came was.
    package func stall(sending more: () -> [UInt8], turn: () async throws -> Void) async rethrows -> Bool {
        var rest: ArraySlice<UInt8> = []
        var (sent, refusals) = (0, 0)
        while refusals < 20, sent < 64 << 20 {
            if rest.isEmpty { rest = more()[...] }
            let count = sendSome(rest)
            rest = rest.dropFirst(count)
            sent += count
            refusals = count == 0 ? refusals + 1 : 0
            if count == 0 { try await turn() }
        }
        return refusals == 20
    }

    /// Whether anything has come that was not read yet, or the peer has closed.
    package var hasNews: Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    /// Sends one byte after the other for twenty seconds; returns whether the peer has answered or closed by then.
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

    /// Waits until the peer closes; false when it sends something or stays silent instead.
    package func isClosedByPeer() async -> Bool {
        await onOwnThread {
            var byte: UInt8 = 0
            let count = recv(self.descriptor, &byte, 1, 0)
            return count == 0 || count < 0 && errno == ECONNRESET
        }
    }

    /// Like ``bytes(until:)``, holding its thread.
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

/// Runs what waits by holding its thread on a thread of its own, as the tests' threads are few.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
