/// Asks an HTTP/1.1 server in the clear for one thing, and hears the status of its answer.
package enum HTTP1Probe {
    /// Asks once, over a connection of its own.
    ///
    /// - Parameters:
    ///   - host: A host name or an address literal.
    ///   - port: The port.
    ///   - path: The path, with a query if need be.
    ///   - bound: How long it may take altogether.
    ///   - loop: Where it runs.
    /// - Returns: The status (RFC 9110 §15).
    /// - Throws: ``WireError`` of kind `.nameNotResolved`, `.connectionRefused`, `.closedByPeer`, `.timedOut`, or
    ///   `.protocolViolation` for an answer that is no HTTP/1.
    package static func status(
        host: String,
        port: UInt16,
        path: String,
        within bound: Duration,
        on loop: EventLoop
    ) async throws(WireError) -> Int {
        let result = await withCheckedContinuation { continuation in
            loop.execute {
                let request = ProbeRequest(host: host, port: port, path: path, on: loop)
                request.start(within: bound) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }
}

/// One request on its way; lives on its loop, and as long as it takes.
private final class ProbeRequest {
    /// Bytes of a status line that are read before it counts as none.
    private static let lineLimit = 1_024

    private let loop: EventLoop
    private let dialer: Dialer
    private let peerName: String
    private var request: [UInt8]
    private var answer: [UInt8] = []
    private var transport: Box<Transport>?
    private var watcher: SocketWatcher?
    private var timer: LoopTimer?
    private var completion: ((Result<Int, WireError>) -> Void)?

    init(host: String, port: UInt16, path: String, on loop: EventLoop) {
        self.loop = loop
        dialer = Dialer(host: host, port: port, on: loop)
        peerName = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        request = Array("GET \(path) HTTP/1.1\r\nHost: \(peerName)\r\nConnection: close\r\n\r\n".utf8)
    }

    /// Asks; `completion` is called once.
    ///
    /// Dialer, timer and watcher keep this object until then.
    func start(within bound: Duration, completion: @escaping (Result<Int, WireError>) -> Void) {
        self.completion = completion
        timer = loop.schedule(after: bound) {
            self.finish(.failure(WireError(.timedOut, "\(self.peerName) did not answer in time")))
        }
        dialer.start { self.connected($0) }
    }

    private func connected(_ result: Result<Box<Socket>, WireError>) {
        do throws(WireError) {
            let socket = try result.get()
            transport = Box(try Transport(socket, tls: nil, peerName: peerName))
            watcher = try SocketWatcher(socket.value, on: loop) { _ in self.proceed() }
        } catch {
            return finish(.failure(error))
        }
        proceed()
    }

    private func proceed() {
        guard let transport else { return }
        while !request.isEmpty {
            switch request.withUnsafeBytes({ transport.value.write($0) }) {
            case .moved(let count): request.removeFirst(count)
            case .mustWait:
                watcher?.wait(for: .writable)
                return
            case .ended: return finish(.failure(closed))
            case .failed(let error): return finish(.failure(error))
            }
        }
        var count = 0
        let outcome = transport.value.fill(loop.readBuffer, &count)
        answer += loop.readBuffer[..<count]
        if let end = answer.firstIndex(of: UInt8(ascii: "\n")) { return judge(answer[..<end]) }
        guard answer.count <= ProbeRequest.lineLimit else { return judge([]) }
        switch outcome {
        case .moved, .mustWait: watcher?.wait(for: .readable)
        case .ended: finish(.failure(closed))
        case .failed(let error): finish(.failure(error))
        }
    }

    /// Reads the status line (RFC 9112 §4).
    private func judge(_ line: ArraySlice<UInt8>) {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = UInt16(words[1]).map(Int.init), status >= 100
        else {
            return finish(.failure(WireError(.protocolViolation, "\(peerName) does not answer in HTTP/1")))
        }
        finish(.success(status))
    }

    private var closed: WireError {
        WireError(.closedByPeer, "\(peerName) closed the connection without an answer")
    }

    private func finish(_ result: Result<Int, WireError>) {
        let completion = completion.take()
        dialer.cancel()
        timer?.cancel()
        watcher?.close()
        watcher = nil
        transport = nil
        completion?(result)
    }
}
