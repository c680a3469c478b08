// SPDX-License-Identifier: Apache-2.0

extension HTTP1Connection {
    /// The phases of a connection.
    enum State {
        /// Reading a request, or waiting for one. Can become `handling`, `finishing` when the request is answered by
        /// its head or rejected, or `closed`.
        case reading
        /// The owner has the request. Can become `streaming`, `finishing` or `closed`.
        case handling
        /// The pieces of the response are written as they become available. Can become `finishing` or `closed`.
        case streaming
        /// The response is complete but not fully written. Can become `reading`, `draining` or `closed`.
        case finishing
        /// The response is written and further input is discarded, because closing a socket with unread input makes the
        /// kernel discard unsent output (RFC 9112 §9.6). Can become `closed`.
        case draining
        /// The connection is closed.
        case closed
    }

    /// Parses the request that waits for its turn.
    func takeTurn() {
        guard turns.take() else { return }
        parse()
        watch()
    }
}
