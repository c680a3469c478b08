// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A store for accepted pushes until each of them has ended, and for their outcomes until these are deleted.
///
/// The module `MartletOutbox` stores the relay's pushes. It has one protocol and its implementations. It handles
/// pushes, their order and their outcomes, and contains no HTTP and nothing about connections to Apple.
///
/// A store guarantees:
///
/// - A push is committed when ``accept(_:at:)`` returns: it survives the end of the process and, unless the store is
///   configured otherwise, a loss of power.
/// - Each accepted push ends in exactly one ``Outcome``, even after crashes. Its row exists until then, and it is
///   claimed again after a restart.
/// - At most one push of an ``OutboxPush/orderKey`` can be claimed at a time, the one that was accepted first; the
///   others wait behind it. A scheduled push joins the queue when it is due.
/// - A push with ``OutboxPush/supersedes`` ends the pushes of its order key that were accepted before it and are not
///   claimed, scheduled ones included, in the transaction that stores it. A claimed push stays, and the new one waits
///   behind it. A push that is not stored ends none.
/// - At most ``AlertLimit/perDay`` requests of an app with alerts to a user are due on a day in UTC, also when several
///   relays accept them at the same time. A request counts once it has a stored push to the user, until all of these
///   have been cancelled, superseded or expired without an attempt. A push whose outcome is deleted counts.
/// - A claimed push is not claimed again until it is settled, the store is opened again or, in a shared store, the
///   lease of its node expires. A push that may have been claimed when a process ended without ``close(isInOrder:)`` is
///   counted in its ``ClaimedPush/unknownTries``.
///
/// Times are milliseconds since 1970 and are passed in by the caller. Methods can be called concurrently; a store
/// combines concurrent changes into one commit.
///
/// No requirement has a default, because a store that wraps another one would not pass the call on.
package protocol OutboxStore: Sendable {
    /// Stores pushes.
    ///
    /// - Parameters:
    ///   - pushes: The pushes, in order of arrival.
    ///   - now: The time.
    /// - Returns: One answer for each push, in the same order. The accepted pushes are committed.
    /// - Throws: ``OutboxError``; none of the pushes is stored then.
    func accept(_ pushes: [HashedPush], at now: Int64) async throws(OutboxError) -> [Acceptance]

    /// Returns the positions of those of some pushes whose identifiers other stored pushes have, so that they would be
    /// conflicts.
    ///
    /// Pushes that are being accepted at the same time may be missed.
    func conflicts(with pushes: [HashedPush]) async throws(OutboxError) -> Set<Int>

    /// Claims the due pushes of a lane that have not been claimed.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - urgency: The urgency of the pushes.
    ///   - limit: The maximum number of pushes.
    ///   - now: The time.
    /// - Returns: The pushes, longest waiting first.
    /// - Throws: ``OutboxError``; no push is claimed then.
    func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> Claim

    /// Stores the results of claimed pushes in one transaction.
    ///
    /// The result of a claim that is not the current one is ignored: a result that is stored again, because the answer
    /// was lost, may arrive after the push has been claimed again.
    ///
    /// - Parameters:
    ///   - settlements: The results.
    ///   - now: The time.
    /// - Returns: The time that is stored, which is another when the store combines calls.
    /// - Throws: ``OutboxError``; the pushes stay claimed then, and can be settled again.
    @discardableResult
    func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) -> Int64

    /// Cancels a push that has not been claimed.
    ///
    /// - Parameters:
    ///   - id: The identifier of the push.
    ///   - app: The app.
    ///   - now: The time.
    /// - Returns: The status of the push afterwards; nil for an unknown push.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus?

    /// Returns the status of a push; nil for an unknown push or a deleted outcome.
    func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus?

    /// Ends pushes that have expired and are not claimed; a push whose stored expiry has changed stays.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - limit: The maximum number of pushes, so that other calls need not wait for long.
    /// - Returns: The expired pushes. When there are as many as the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus]

    /// Deletes the outcomes of pushes that ended before a time.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - limit: The maximum number of outcomes, so that other calls need not wait for long.
    /// - Returns: The number of deleted outcomes. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int

    /// Returns the waiting pushes of each lane.
    func backlog() async throws(OutboxError) -> [Backlog]

    /// Cancels unclaimed pushes of a lane, including scheduled pushes and pushes behind others.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - last: ``PurgedPushes/last`` of the previous step; nil in the first step.
    ///   - limit: The maximum number of pushes, so that other calls need not wait for long.
    ///   - now: The time.
    /// - Returns: The cancelled pushes.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) async throws(OutboxError) -> PurgedPushes

    /// Cancels unclaimed pushes of a selection, including scheduled pushes and pushes behind others, and deletes its
    /// dead letters with their payloads.
    ///
    /// A claimed push to a token loses its user: when it is claimed again, ``ClaimedPush/hasFormerUser`` is true. The
    /// user of a claimed push to a user is kept, because the removal of the installations has the same effect on it.
    ///
    /// The latest come first, because the end of the first push of an order key makes the next one due.
    ///
    /// - Parameters:
    ///   - selection: The selection.
    ///   - app: The app.
    ///   - cursor: ``ErasedPushes/next`` of the previous step; nil in the first step.
    ///   - limit: The maximum number of rows that are read, so that other calls need not wait for long.
    ///   - now: The time.
    /// - Returns: The removed pushes.
    /// - Throws: ``OutboxError``; the step can be repeated then.
    func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> ErasedPushes

    /// Moves dead letters that are not damaged back to the queue, as if they had been accepted now.
    ///
    /// - Parameters:
    ///   - ids: The identifiers; nil for all dead letters of the app.
    ///   - app: The app.
    ///   - now: The time.
    /// - Returns: The number of pushes.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int

    /// The paused lanes, unregistered tokens, dead letters, positions of readers and problems of relays.
    var records: any OutboxRecords { get }

    /// The installations of apps, and their tickets.
    var installations: any InstallationStore { get }

    /// The jobs of apps, whose pushes wait with the others.
    var jobs: any JobStore { get }

    /// The surfaces of apps, and their sessions on installations, whose pushes wait with the others.
    var surfaces: any SurfaceStore { get }

    /// The link to the other relays that share the store; nil for a store that a single relay uses.
    var shared: (any SharedOutbox)? { get }

    /// The file of the store; nil for a store in a database, whose tools back it up and whose settings say how long it
    /// keeps removed content.
    var localFile: (any OutboxFile)? { get }

    /// The measurements since the store was opened.
    var measures: OutboxMeasures { get async }

    /// Commits the changes under way and closes the store.
    ///
    /// - Parameter isInOrder: Whether every sent push has been answered. Otherwise the claimed pushes are marked as
    ///   possibly sent when they are claimed again.
    func close(isInOrder: Bool) async
}

extension OutboxStore {
    /// Calculates the hashes of pushes on the executor of the caller, and stores the pushes.
    package func accept(_ pushes: [OutboxPush], at now: Int64) async throws(OutboxError) -> [Acceptance] {
        try await accept(pushes.map(HashedPush.init), at: now)
    }
}
