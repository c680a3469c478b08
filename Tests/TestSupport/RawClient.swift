import Foundation

/// A client that sends exactly the bytes it is told to, as curl never would.
package final class RawClient: Sendable {
    private let descriptor: CInt

    package init(port: UInt16) throws {
        descriptor = try SocketAddressOnLoopback.connected(to: port)
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
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.readBlocking(until: end)) }
        }
    }

    /// Waits until the peer closes; false when it sends something or stays silent instead.
    package func isClosedByPeer() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                let count = recv(self.descriptor, &byte, 1, 0)
                continuation.resume(returning: count == 0 || count < 0 && errno == ECONNRESET)
            }
        }
    }

    private func readBlocking(until end: String?) -> String {
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let end, text.contains(end) { return text }
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return text }
            received += piece[..<count]
        }
    }
}
