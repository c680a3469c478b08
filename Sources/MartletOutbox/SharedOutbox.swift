// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The link between the processes that share an outbox.
///
/// Each process is a node and learns of the others through the outbox. The link is no ``OutboxStore``: a
/// ``SealedOutbox`` returns the link of the store that it wraps, and callers must not reach that store.
package protocol SharedOutbox: Sendable {
    /// The events that other processes and the database cause; for one reader.
    var events: AsyncStream<OutboxEvent> { get }

    /// The processes that share the outbox.
    var fleet: any OutboxFleet { get }
}

/// The processes that share an outbox, and the data that they exchange.
package protocol OutboxFleet: Sendable {
    /// Returns the registered nodes, longest registered first.
    func nodes() async throws(OutboxError) -> [OutboxNode]

    /// Asks a node to finish its work and shut down.
    ///
    /// - Parameter number: The number of the node.
    /// - Returns: Whether the node is registered.
    /// - Throws: ``OutboxError``; the node has not been asked then.
    func requestDrain(_ number: Int64) async throws(OutboxError) -> Bool

    /// Publishes data about this node for the other nodes, with the next heartbeat.
    ///
    /// - Parameter data: The data as JSON.
    func publish(_ data: String) async

    /// Finds those of some pushes that have ended, on any node.
    ///
    /// - Parameter pushes: The pushes by app and identifier.
    /// - Returns: The statuses of those that have ended.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func ended(among pushes: [(app: String, id: APNsID)]) async throws(OutboxError) -> [PushStatus]

    /// Returns the time of the clock that all nodes have in common, in seconds since 1970.
    func time() async throws(OutboxError) -> Int64

    /// Returns the provider token that all nodes use for a key; nil when there is none yet.
    func sharedToken(of key: SharedToken.Key) async throws(OutboxError) -> SharedToken?

    /// Replaces the provider token that all nodes use for a key, unless another node has replaced it already.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - key: The key that signed it.
    ///   - old: The time of issue of the token that it replaces; nil when there was none.
    /// - Returns: The token that all nodes use now.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func share(
        _ token: SharedToken,
        of key: SharedToken.Key,
        inPlaceOf old: Int64?
    ) async throws(OutboxError) -> SharedToken
}

/// An event of a shared outbox that other processes or the database cause.
package enum OutboxEvent: Sendable, Hashable {
    /// A push of a lane is due.
    case arrived(Lane, Urgency)
    /// This process has lost its claims: another node may send the pushes that it has not settled.
    case claimsLost
    /// The number of nodes, and whether this one is the leader, which performs the work of a single node.
    case fleet(nodes: Int, isLeader: Bool)
    /// A connection to the database was lost.
    case unreachable(OutboxError)
    /// The database does not deliver notifications, so that pushes of back ends are found late.
    case notificationsLost
    /// An operator has asked this process to shut down.
    case drainRequested
}

/// A process that shares an outbox.
package struct OutboxNode: Sendable, Hashable {
    /// The number, which increases with each registration; the lowest is the leader's.
    package var number: Int64
    /// The name for operators.
    package var name: String
    /// The version of Martlet that it runs.
    package var version: String
    /// The time of registration, in milliseconds since 1970.
    package var startedAt: Int64
    /// The time since its last heartbeat, in milliseconds.
    package var silence: Int64
    /// Whether it has been asked to shut down.
    package var isToDrain: Bool
    /// Whether it is this process.
    package var isOwn: Bool
    /// The data that it has published, as JSON.
    package var publishedData: String
}

/// A provider token that all nodes use.
package struct SharedToken: Sendable, Hashable {
    /// The key that signs a token.
    package struct Key: Sendable, Hashable {
        /// The team's identifier.
        package var teamID: String
        /// The key's identifier.
        package var keyID: String
        /// The SHA-256 of the public key, since a key file can be replaced while the identifier stays the same.
        package var fingerprint: String

        /// Creates a key.
        package init(teamID: String, keyID: String, fingerprint: String) {
            self.teamID = teamID
            self.keyID = keyID
            self.fingerprint = fingerprint
        }

        /// The text that identifies the key within its team: its identifier and its fingerprint.
        package var name: String { keyID + " " + fingerprint }
    }

    /// The token's text, a JSON Web Token.
    package var text: [UInt8]
    /// The time of issue, in seconds since 1970.
    package var issuedAt: Int64

    /// Creates a shared token.
    package init(text: [UInt8], issuedAt: Int64) {
        self.text = text
        self.issuedAt = issuedAt
    }
}
