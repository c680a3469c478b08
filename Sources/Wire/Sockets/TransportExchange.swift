/// Writes a request and gathers what comes back, until whoever reads it has enough; lives on its loop.
final class TransportExchange {
    private let transport: Box<Transport>
    private let peerName: String
    private var request: [UInt8]
    private var answer: [UInt8] = []
    private var isEncrypted: Bool
    private var watcher: SocketWatcher?
    /// Whether what has come is enough; the second argument says that no more will come.
    private var isEnough: (([UInt8], Bool) -> Bool)?
    private var completion: ((WireError?) -> Void)?

    /// An exchange that has not begun.
    ///
    /// - Parameters:
    ///   - socket: A connected socket.
    ///   - tls: How it is encrypted; nil in the clear.
    ///   - peerName: Whom the certificate has to be for, and what people know the peer as.
    ///   - request: What is written.
    /// - Throws: ``WireError`` of kind `.system` without memory.
    init(
        over socket: Box<Socket>,
        tls: TLSContext?,
        peerName: String,
        request: [UInt8]
    ) throws(WireError) {
        transport = Box(try Transport(socket, tls: tls, peerName: peerName))
        isEncrypted = tls != nil
        self.peerName = peerName
        self.request = request
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - socket: The same socket.
    ///   - loop: Where it lives.
    ///   - isEnough: Asked, with everything that has come so far and whether that is all, whether to stop here.
    ///   - completion: Told once, with nil when it was enough.
    func start(
        _ socket: Box<Socket>,
        on loop: EventLoop,
        until isEnough: @escaping ([UInt8], Bool) -> Bool,
        completion: @escaping (WireError?) -> Void
    ) {
        self.isEnough = isEnough
        self.completion = completion
        do throws(WireError) {
            watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] _ in proceed(loop) }
        } catch {
            return finish(error)
        }
        proceed(loop)
    }

    /// Gives up without a word.
    func cancel() {
        completion = nil
        isEnough = nil
        watcher?.close()
        watcher = nil
    }

    private func proceed(_ loop: EventLoop) {
        guard shakeHands(), write() else { return }
        while true {
            var count = 0
            let outcome = transport.value.fill(loop.readBuffer, &count)
            answer += loop.readBuffer[..<count]
            let isAll = if case .ended = outcome { true } else { false }
            if !answer.isEmpty, count > 0 || isAll, isEnough?(answer, isAll) ?? true { return finish(nil) }
            switch outcome {
            case .moved: continue  // There may be more in OpenSSL's buffer, of which the socket will not tell.
            case .mustWait: watcher?.wait(for: .readable)
            case .ended: finish(WireError(.closedByPeer, "\(peerName) closed the connection without an answer"))
            case .failed(let error): finish(error)
            }
            return
        }
    }

    /// Whether the handshake is done, or there is none.
    private func shakeHands() -> Bool {
        guard isEncrypted else { return true }
        switch transport.value.handshake() {
        case .moved:
            isEncrypted = false
            return true
        case .mustWait(let toWrite): watcher?.wait(for: toWrite ? .writable : .readable)
        case .ended: finish(WireError(.closedByPeer, "\(peerName) closed the connection during the TLS handshake"))
        case .failed(let error): finish(error)
        }
        // What the handshake has to say is in a buffer still.
        _ = transport.value.flush()
        return false
    }

    /// Whether everything is written.
    private func write() -> Bool {
        while !request.isEmpty {
            switch request.withUnsafeBytes({ transport.value.write($0) }) {
            case .moved(let count): request.removeFirst(count)
            case .mustWait(let toWrite):
                watcher?.wait(for: toWrite ? .writable : .readable)
                return false
            case .ended:
                finish(WireError(.closedByPeer, "\(peerName) closed the connection"))
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

    private func finish(_ error: WireError?) {
        let completion = completion.take()
        cancel()
        completion?(error)
    }
}
