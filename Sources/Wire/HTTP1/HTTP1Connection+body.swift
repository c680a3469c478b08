extension HTTP1Connection {
    /// The reports to the owner, and the questions that it answers at once.
    struct Owner {
        /// Decides about a request by its head.
        var admit: (HTTPRequest) -> HTTP1Admission
        /// Reserves memory for a piece of a body; false when there is none.
        var reserve: (Int) -> Bool
        /// Gives such memory back.
        var release: (Int) -> Void
        /// Takes a request, to be answered with ``HTTP1Connection/answer(_:)``; the body of a streamed one follows
        /// through ``HTTP1Connection/readBody(_:)``.
        var received: (HTTPRequest, _ isStreamed: Bool) -> Void
        /// The client has gone while its request was handled, or takes nothing any more.
        var clientLeft: () -> Void
        /// An answer is written, and the connection waits for the next request.
        var answered: () -> Void
        /// The connection is closed: nothing follows.
        var closed: () -> Void
    }
}

/// A body that the owner reads while it arrives.
extension HTTP1Connection {
    /// Reads the next piece of a streamed body, nil at its end.
    func readBody(_ reader: @escaping (Result<[UInt8]?, HTTP1Body.Broken>) -> Void) {
        bodyReader = reader
        lastMoved = loop.now
        passBody()
        parse()
        watch()
    }

    /// Hands what has arrived of a streamed body to its reader.
    func passBody() {
        guard let reader = bodyReader else { return }
        let piece = body
        switch incoming {
        case _ where !piece.isEmpty:
            dropBody()
            bodyReader = nil
            reader(.success(piece))
        case .arriving: break
        case .broken:
            bodyReader = nil
            reader(.failure(HTTP1Body.Broken()))
        case .none, .complete:
            bodyReader = nil
            reader(.success(nil))
        }
    }

    /// The rest of a streamed body will not arrive.
    func breakBody() {
        guard case .arriving = incoming else { return }
        incoming = .broken
        passBody()
    }

    func dropBody() {
        owner?.release(body.count)
        body = []
    }
}

extension HTTPResponse {
    /// A response in plain text.
    init(status: Int, text: String) {
        self.init(
            status: status,
            fields: ["content-type": "text/plain; charset=utf-8"],
            body: Array((text + "\n").utf8)
        )
    }
}
