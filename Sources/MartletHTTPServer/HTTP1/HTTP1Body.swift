// SPDX-License-Identifier: Apache-2.0

/// A request body that is read while it arrives.
///
/// TCP flow control stops the client from sending bytes that are not read, so a long body does not fill memory.
package struct HTTP1Body: AsyncSequence, Sendable {
    /// An error that ends a body early: the client closed the connection, took too long or violated HTTP/1.1.
    package struct Broken: Error {}

    private let piece: @Sendable () async throws(Broken) -> [UInt8]?

    init(piece: @escaping @Sendable () async throws(Broken) -> [UInt8]?) {
        self.piece = piece
    }

    /// Creates an iterator; a body supports a single reader.
    package func makeAsyncIterator() -> Iterator { Iterator(piece: piece) }

    /// An iterator over the pieces of a body.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let piece: @Sendable () async throws(Broken) -> [UInt8]?

        /// Returns the next piece, which is not empty; nil at the end of the body.
        package mutating func next() async throws(Broken) -> [UInt8]? { try await piece() }

        /// Returns the same as ``next()``, for a caller on an actor.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(Broken) -> [UInt8]? {
            try await piece()
        }
    }
}
