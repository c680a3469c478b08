package import APNs

/// An outbox that several processes share: each is a node, and knows of the others through it.
package protocol SharedOutbox: OutboxStore {
    /// What comes about without this process's doing; for one reader.
    var news: AsyncStream<OutboxNews> { get }

    /// The nodes that are there, those first that have been there longest.
    func nodes() async throws(OutboxError) -> [OutboxNode]

    /// Has a node come to its end in order.
    ///
    /// - Parameter number: Which.
    /// - Returns: Whether it is there.
    /// - Throws: ``OutboxError``; then it has not been asked.
    func askToDrain(_ number: Int64) async throws(OutboxError) -> Bool

    /// Has the others learn of this node, with its next sign of life.
    ///
    /// - Parameter facts: What there is to know, as JSON.
    func publish(_ facts: String) async

    /// Which of some pushes have ended, whoever has sent them.
    ///
    /// - Parameter pushes: The pushes by app and identifier.
    /// - Returns: What is known of those that have ended.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func ended(among pushes: [(app: String, id: APNsID)]) async throws(OutboxError) -> [PushStatus]

    /// The provider token that all nodes use for a key; nil when there is none yet.
    func sharedToken(of key: SharedToken.Key) async throws(OutboxError) -> SharedToken?

    /// Has all nodes use another provider token, unless somebody else has been faster.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - key: What it was signed with.
    ///   - old: When the one was issued that it replaces; nil when there was none.
    /// - Returns: The token that counts.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func share(
        _ token: SharedToken,
        of key: SharedToken.Key,
        inPlaceOf old: Int64?
    ) async throws(OutboxError) -> SharedToken
}

/// What comes about in an outbox that others share, without this process's doing.
package enum OutboxNews: Sendable, Hashable {
    /// Something is due in a lane.
    case arrived(Lane, Urgency)
    /// What this process has claimed and not settled is others' now.
    case claimsLost
    /// Who is there: so many nodes, and whether this one does what one alone may do.
    case fleet(nodes: Int, leads: Bool)
    /// A connection to the database was lost.
    case unreachable(OutboxError)
    /// Somebody asks this process to come to its end.
    case drainAsked
}

/// One of the processes that share an outbox.
package struct OutboxNode: Sendable, Hashable {
    /// Counts up with each process that comes; the lowest leads.
    package var number: Int64
    /// What people know it by.
    package var name: String
    /// Martlet's version there.
    package var version: String
    /// When it came, in milliseconds since 1970.
    package var startedAt: Int64
    /// How long ago it gave the last sign of life, in milliseconds.
    package var silence: Int64
    /// Whether it is asked to come to its end.
    package var isToDrain: Bool
    /// Whether it is this process.
    package var isOwn: Bool
    /// What it tells of itself, as JSON.
    package var facts: String

    /// A node from its parts.
    package init(
        number: Int64,
        name: String,
        version: String,
        startedAt: Int64,
        silence: Int64,
        isToDrain: Bool,
        isOwn: Bool,
        facts: String
    ) {
        self.number = number
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.silence = silence
        self.isToDrain = isToDrain
        self.isOwn = isOwn
        self.facts = facts
    }
}

/// A provider token that all nodes use.
package struct SharedToken: Sendable, Hashable {
    /// What a token is signed with.
    package struct Key: Sendable, Hashable {
        /// The team's identifier.
        package var teamID: String
        /// The key's identifier.
        package var keyID: String

        /// A key from its parts.
        package init(teamID: String, keyID: String) {
            self.teamID = teamID
            self.keyID = keyID
        }
    }

    /// The token's text, a JSON Web Token.
    package var text: [UInt8]
    /// When it was issued, in seconds since 1970.
    package var issuedAt: Int64

    /// A token from its parts.
    package init(text: [UInt8], issuedAt: Int64) {
        self.text = text
        self.issuedAt = issuedAt
    }
}
