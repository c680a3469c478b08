// SPDX-License-Identifier: Apache-2.0

/// A request and the collection of its response over a transport; used only on its loop.
final class TransportExchange {
    private let transport: Reference<Transport>
    private let peerName: String
    private let readsAhead: Bool
    private var request: [UInt8]
    private var answer: [UInt8] = []
    private var needsHandshake: Bool
    private var watcher: SocketWatcher?
    /// Returns whether the received bytes suffice; the second argument states whether the peer has finished sending.
    private var isEnough: (([UInt8], Bool) -> Bool)?
    private var completion: ((TransportError?) -> Void)?

    /// Creates an exchange, which ``start(_:on:until:completion:)`` starts.
    ///
    /// - Parameters:
    ///   - socket: A connected socket.
    ///   - tls: The TLS settings; nil for cleartext.
    ///   - peerName: The name that the peer's certificate must have, also used in error messages.
    ///   - request: The bytes to write.
    ///   - readsAhead: Whether bytes after the response may be read; otherwise they stay in the socket.
    /// - Throws: ``TransportError`` of kind `.system` when memory cannot be allocated.
    init(
        over socket: Reference<Socket>,
        tls: TLSContext?,
        peerName: String,
        request: [UInt8],
        readsAhead: Bool = true
    ) throws(TransportError) {
        transport = Reference(try Transport(socket, tls: tls, peerName: peerName))
        self.readsAhead = readsAhead
        needsHandshake = tls != nil
        self.peerName = peerName
        self.request = request
    }

    /// Starts the exchange.
    ///
    /// - Parameters:
    ///   - socket: The same socket.
    ///   - loop: The event loop.
    ///   - isEnough: Returns whether to stop, from all bytes received so far and whether the peer has finished sending.
    ///   - completion: Called once, with nil when the received bytes sufficed.
    func start(
        _ socket: Reference<Socket>,
        on loop: EventLoop,
        until isEnough: @escaping ([UInt8], Bool) -> Bool,
        completion: @escaping (TransportError?) -> Void
    ) {
        self.isEnough = isEnough
        self.completion = completion
        do throws(TransportError) {
            watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] _ in proceed(loop) }
        } catch {
            return finish(error)
        }
        proceed(loop)
    }

    /// Cancels the exchange without calling `completion`.
    func cancel() {
        completion = nil
        isEnough = nil
        watcher?.close()
        watcher = nil
    }

    private func proceed(_ loop: EventLoop) {
        guard performHandshake(), write() else { return }
        let buffer = readsAhead ? loop.readBuffer : UnsafeMutableRawBufferPointer(rebasing: loop.readBuffer[..<1])
        while true {
            var count = 0
            let outcome = transport.value.fill(buffer, &count)
            answer += buffer[..<count]
            let isAll = if case .ended = outcome { true } else { false }
            if !answer.isEmpty, count > 0 || isAll, isEnough?(answer, isAll) ?? true { return finish(nil) }
            switch outcome {
            case .moved: continue  // OpenSSL's buffer may hold more data, for which the socket reports no readiness.
            case .mustWait: watcher?.wait(for: .readable)
            case .ended: finish(TransportError(.closedByPeer, "\(peerName) closed the connection without a response"))
            case .failed(let error): finish(error)
            }
            return
        }
    }

    /// Continues the handshake; returns whether it is complete, or not needed.
    private func performHandshake() -> Bool {
        guard needsHandshake else { return true }
        switch transport.value.handshake() {
        case .moved:
            needsHandshake = false
            return true
        case .mustWait(let toWrite): watcher?.wait(for: toWrite ? .writable : .readable)
        case .ended: finish(TransportError(.closedByPeer, "\(peerName) closed the connection during the TLS handshake"))
        case .failed(let error): finish(error)
        }
        // The output of the handshake is still in a buffer.
        _ = transport.value.flush()
        return false
    }

    /// Writes the request; returns whether all of it is written.
    private func write() -> Bool {
        while !request.isEmpty {
            switch request.withUnsafeBytes({ transport.value.write($0) }) {
            case .moved(let count): request.removeFirst(count)
            case .mustWait(let toWrite):
                watcher?.wait(for: toWrite ? .writable : .readable)
                return false
            case .ended:
                finish(TransportError(.closedByPeer, "\(peerName) closed the connection"))
                return false
            case .failed(let error):
                finish(error)
                return false
            }
        }
        switch transport.value.flush() {
        case .mustWait:
            watcher?.wait(for: .writable)
            return false
        case .failed(let error):
            finish(error)
            return false
        case .moved, .ended: return true
        }
    }

    private func finish(_ error: TransportError?) {
        let completion = completion.take()
        cancel()
        completion?(error)
    }
}
