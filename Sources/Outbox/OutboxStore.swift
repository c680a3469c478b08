package import APNs

/// Keeps accepted pushes until each of them has ended, and remembers how, for as long as somebody may ask.
///
/// The module `Outbox` is the relay's memory: one protocol, and engines that hold to it. It knows pushes, their order
/// and their ends; it knows no HTTP, and not how Apple is spoken to.
///
/// What an engine promises:
///
/// - A push that ``accept(_:at:)`` has answered for is on disk.
/// - Each accepted push ends in exactly one ``Outcome``, whatever ends the process in between. Its row is there until
///   then, and it is claimed again after a restart.
/// - At most one push of an ``OutboxPush/orderKey`` is claimable at a time, the one that was accepted first; the others
///   wait behind it. A scheduled push gets in line when its time has come.
/// - One claimant: what one claim has given, no other gives until it is settled, the store is opened anew or, where
///   several processes share it, the one that has it has not been heard of for long. What may have been given out when
///   a process ended without ``close(isInOrder:)`` says so in its ``ClaimedPush/unknownTries``.
///
/// Times are milliseconds since 1970, and handed in. All calls may come at once, from anywhere; an engine puts what
/// comes together into one commit.
package protocol OutboxStore: Sendable {
    /// Keeps pushes.
    ///
    /// - Parameters:
    ///   - pushes: The pushes, in the order that they came in.
    ///   - now: The time.
    /// - Returns: One answer for each, in the same order. When this returns they are on disk.
    /// - Throws: ``OutboxError``; then none of them is kept.
    func accept(_ pushes: [OutboxPush], at now: Int64) async throws(OutboxError) -> [Acceptance]

    /// Gives out what is due in a lane, and has not been given out yet.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - urgency: Only pushes of this urgency.
    ///   - limit: How many at most.
    ///   - now: The time.
    /// - Returns: The pushes, those that have waited longest first.
    /// - Throws: ``OutboxError``; then nothing was given out.
    func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> Claim

    /// Writes down what became of claimed pushes, all or nothing.
    ///
    /// - Parameters:
    ///   - settlements: What became of each.
    ///   - now: The time.
    /// - Throws: ``OutboxError``; then they are claimed still, and may be settled again.
    func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError)

    /// Takes a push back that has not been given out yet.
    ///
    /// - Parameters:
    ///   - id: Which push.
    ///   - app: Whose.
    ///   - now: The time.
    /// - Returns: What is known of it now; nil when nothing is.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus?

    /// What is known of a push; nil when nothing is, or no longer.
    func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus?

    /// Ends pushes that were worth nothing any more before they were given out.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - limit: How many at once, so that nobody waits for long.
    /// - Returns: Whom this happened to; as many as the limit means that there may be more.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus]

    /// Forgets the outcomes of pushes that ended before a time; whoever asks for them learns nothing.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - limit: How many at once, so that nobody waits for long.
    /// - Returns: How many; as many as the limit means that there may be more.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int

    /// What waits, lane by lane.
    func backlog() async throws(OutboxError) -> [Backlog]

    /// Tokens that Apple has called dead, in the order of their discovery.
    ///
    /// - Parameters:
    ///   - app: Whose.
    ///   - cursor: Only those after this one; 0 for all.
    ///   - limit: How many at most.
    /// - Returns: The tokens.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func deadTokens(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError) -> [DeadToken]

    /// Forgets that a token is dead, since the device has registered again.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - app: Whose.
    /// - Returns: Whether it was thought dead.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func revive(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool

    /// The lanes that operators have paused, in no particular order.
    func pauses() async throws(OutboxError) -> [LanePause]

    /// Stores that an operator has paused a lane; a lane that is paused already keeps its first pause.
    ///
    /// The store still gives out the lane's pushes: a relay that knows of the pause claims none.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - caller: The name of the caller that pauses it.
    ///   - now: The time.
    /// - Returns: The stored pause.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause

    /// Removes the pause of a lane.
    ///
    /// - Parameter lane: The lane.
    /// - Returns: Whether the lane was paused.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func resume(_ lane: Lane) async throws(OutboxError) -> Bool

    /// Cancels pushes of a lane that wait, whatever they wait for; those that have been given out stay.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - last: ``PurgedPushes/last`` of the step before; nil in the first step.
    ///   - limit: The maximum number of pushes, so that other calls need not wait for long.
    ///   - now: The time.
    /// - Returns: The cancelled pushes.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) async throws(OutboxError) -> PurgedPushes

    /// Returns the pushes to a device token that have not ended, and the dead letters to it, oldest first.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - app: The app.
    ///   - cursor: Only pushes after this ``FoundPush/number``; 0 for all.
    ///   - limit: The maximum number of pushes.
    /// - Returns: The pushes.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [FoundPush]

    /// Returns the dead letter with an identifier; nil when there is none.
    func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter?

    /// Pushes that were given up after many tries, newest first.
    func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter]

    /// Has pushes tried again that were given up, as if they had come in now.
    ///
    /// - Parameters:
    ///   - ids: Which; nil for all of the app.
    ///   - app: Whose.
    ///   - now: The time.
    /// - Returns: How many there were.
    /// - Throws: ``OutboxError``; then nothing has changed.
    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int

    /// How far a reader of a feed has come; 0 for one that has read nothing.
    ///
    /// - Parameter reader: The reader's name.
    /// - Returns: The cursor that was set last.
    /// - Throws: ``OutboxError`` when it cannot be read.
    func cursor(of reader: String) async throws(OutboxError) -> Int64

    /// Remembers how far a reader of a feed has come.
    ///
    /// - Parameters:
    ///   - cursor: The cursor.
    ///   - reader: The reader's name.
    /// - Throws: ``OutboxError``; then the reader is where it was.
    func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError)

    /// What it has measured.
    var measures: OutboxMeasures { get async }

    /// Commits what is under way and lets go of the disk.
    ///
    /// - Parameter isInOrder: Whether everything that was sent has been answered. Otherwise what was given out says the
    ///   next time that it may have been sent.
    func close(isInOrder: Bool) async
}

extension OutboxStore {
    /// Nothing, for engines without a disk to wait for.
    package var measures: OutboxMeasures { get async { OutboxMeasures() } }
}
