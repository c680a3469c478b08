// SPDX-License-Identifier: Apache-2.0

/// The memory that a server holds for its clients, in bytes: their incomplete requests and unread responses, without
/// I/O.
///
/// It takes up to twice as much memory, because an array that grows reserves twice its size.
package struct HeldMemory {
    /// The default limit of all clients together, in bytes.
    package static let defaultLimit = 32 << 20

    /// The clients that hold too much memory.
    package enum Excess {
        /// Those that are not authenticated.
        case unauthenticated
        /// All of them.
        case all
    }

    private let limit: Int
    /// The memory of all clients.
    package private(set) var byteCount = 0
    /// The part of it of clients that are not authenticated.
    package private(set) var unauthenticatedByteCount = 0

    /// Creates an account without memory, with a limit in bytes.
    ///
    /// Half of the limit is for clients that are not authenticated, so that clients without credentials never make the
    /// server close a connection of a client that has some.
    package init(limit: Int = HeldMemory.defaultLimit) {
        self.limit = limit
    }

    /// The clients that hold too much memory; nil when none do.
    ///
    /// When all clients together hold too much, those that are not authenticated are closed first.
    package var excess: Excess? {
        let isFull = byteCount > limit
        if unauthenticatedByteCount > (isFull ? 0 : limit / 2) { return .unauthenticated }
        return isFull ? .all : nil
    }

    /// Adds a change of the memory of a client.
    package mutating func add(_ change: Int, isAuthenticated: Bool) {
        byteCount += change
        if !isAuthenticated { unauthenticatedByteCount += change }
    }
}
