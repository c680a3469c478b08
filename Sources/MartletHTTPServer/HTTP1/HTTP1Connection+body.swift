// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

extension HTTP1Connection {
    /// The callbacks to the owner of a connection.
    struct Owner {
        /// Decides about a request by its head.
        var admit: (HTTPRequest) -> HTTP1Admission
        /// Reserves memory for a piece of a body; returns false when the limit is reached.
        var reserve: (Int) -> Bool
        /// Releases memory reserved with `reserve`.
        var release: (Int) -> Void
        /// Changes the number of bytes of heads, of further requests and of unread responses for which the connection
        /// counts.
        var hold: (Int) -> Void
        /// Called when a request has arrived with the one before it; the owner calls ``HTTP1Connection/takeTurn()``.
        var waitsForTurn: () -> Void
        /// Receives a request and its handler, to be answered with ``HTTP1Connection/answer(_:)``.
        ///
        /// The body of a streamed request is read with ``HTTP1Connection/readBody(_:)``.
        var received: (HTTPRequest, @escaping HTTP1Listener.Handler, _ isStreamed: Bool) -> Void
        /// Called when the client closes the connection or stops reading while its request is handled.
        var clientDisconnected: () -> Void
        /// Called when a response has been written and the connection waits for the next request.
        var answered: () -> Void
        /// Called when the connection is closed, as the last callback.
        var closed: () -> Void
    }
}

/// Streamed bodies, which the owner reads while they arrive.
extension HTTP1Connection {
    /// The phases of a body that the owner reads while it arrives.
    enum Incoming {
        /// There is no such body, or its request has been answered. Can become `arriving`.
        case none
        /// Pieces of the body are still to come. Can become `complete`, `broken` or `none`.
        case arriving
        /// The whole body has arrived. Can become `none`.
        case complete
        /// The rest of the body will not arrive. Can become `none`.
        case broken
    }

    /// Reads the next piece of a streamed body; nil at its end.
    func readBody(_ reader: @escaping (Result<[UInt8]?, HTTP1Body.Broken>) -> Void) {
        bodyReader = reader
        lastTransferAt = loop.now
        passBody()
        parse()
        watch()
    }

    /// Passes the received part of a streamed body to its reader.
    func passBody() {
        guard let reader = bodyReader else { return }
        if body.isEmpty, case .arriving = incoming { return }
        bodyReader = nil
        let piece = body
        dropBody()
        if !piece.isEmpty {
            reader(.success(piece))
        } else if case .broken = incoming {
            reader(.failure(HTTP1Body.Broken()))
        } else {
            reader(.success(nil))
        }
    }

    /// Marks a streamed body as incomplete: the rest will not arrive.
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
