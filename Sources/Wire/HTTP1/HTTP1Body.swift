/// The body of a request that is read while it arrives.
///
/// Bytes that are not read stay with the client, through TCP's flow control, so a long body takes no memory.
package struct HTTP1Body: AsyncSequence, Sendable {
    /// An error that ends a body before its end: the client left, took too long, or broke a rule.
    package struct Broken: Error {}

    private let piece: @Sendable () async throws(Broken) -> [UInt8]?

    init(piece: @escaping @Sendable () async throws(Broken) -> [UInt8]?) {
        self.piece = piece
    }

    /// Creates an iterator; a body has one reader.
    package func makeAsyncIterator() -> Iterator { Iterator(piece: piece) }

    /// Reads the pieces of a body.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let piece: @Sendable () async throws(Broken) -> [UInt8]?

        /// Returns the next piece, which is not empty; nil at the end of the body.
        package mutating func next() async throws(Broken) -> [UInt8]? { try await piece() }

        /// Returns the next piece, which is not empty; nil at the end of the body.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(Broken) -> [UInt8]? {
            try await piece()
        }
    }
}

/// The decision about a request by its head.
package enum HTTP1Admission: Sendable {
    /// The request is answered at once, and its body is not read.
    case answer(HTTPResponse)
    /// The handler gets the request with its body, once that is complete.
    case whole
    /// The handler gets the request at once, and reads the body while it arrives.
    case streamed
}
