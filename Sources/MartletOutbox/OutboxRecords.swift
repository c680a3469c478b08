// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The records of an outbox beside the queue: paused lanes, unregistered tokens, dead letters, positions of readers and
/// the problems of relays.
///
/// Times are milliseconds since 1970. Methods can be called concurrently.
package protocol OutboxRecords: Sendable {
    /// Returns the tokens that Apple has reported as unregistered, in the order of the reports.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - cursor: Only tokens after this cursor; 0 for all.
    ///   - limit: The maximum number of tokens.
    /// - Returns: The tokens.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func unregisteredTokens(
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [UnregisteredToken]

    /// Deletes the records of an unregistered token in all environments and for all topics, because the device has
    /// registered again.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - app: The app.
    /// - Returns: Whether the token was recorded as unregistered.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func markRegistered(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool

    /// Returns the lanes that operators have paused, in no particular order.
    func pauses() async throws(OutboxError) -> [LanePause]

    /// Stores that an operator has paused a lane; a lane that is already paused keeps its first pause.
    ///
    /// The pushes of the lane can still be claimed: a relay that knows of the pause claims none.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - caller: The name of the caller that pauses it.
    ///   - now: The time.
    /// - Returns: The stored pause.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause

    /// Removes the pause of a lane.
    ///
    /// - Parameter lane: The lane.
    /// - Returns: Whether the lane was paused.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func resume(_ lane: Lane) async throws(OutboxError) -> Bool

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

    /// Returns a page of the pushes of a selection that have not ended, and of its dead letters.
    ///
    /// - Parameters:
    ///   - selection: The selection.
    ///   - app: The app.
    ///   - cursor: ``FoundPushes/next`` of the previous page; 0 for the first page.
    ///   - limit: The maximum number of rows that are read, so that other calls need not wait for long.
    /// - Returns: The page.
    /// - Throws: ``OutboxError`` when it cannot be read.
    func pushes(
        _ selection: PushSelection,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> FoundPushes

    /// Returns the dead letter with an identifier; nil when there is none.
    func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter?

    /// Returns the pushes that were abandoned after too many attempts, newest first.
    func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter]

    /// Deletes dead letters with their payloads.
    ///
    /// Their identifiers are forgotten, so that pushes with the same ones are accepted again.
    ///
    /// - Parameters:
    ///   - ids: The identifiers; those of other pushes are ignored.
    ///   - app: The app.
    /// - Returns: The number of deleted dead letters.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func deleteDeadLetters(_ ids: [APNsID], of app: String) async throws(OutboxError) -> Int

    /// Returns the number of dead letters of each app that has some.
    func deadLetterCounts() async throws(OutboxError) -> [String: DeadLetterCount]

    /// Returns the position of a reader in a feed; 0 for a reader that has read nothing.
    ///
    /// - Parameter reader: The name of the reader.
    /// - Returns: The cursor that was set last.
    /// - Throws: ``OutboxError`` when it cannot be read.
    func cursor(of reader: String) async throws(OutboxError) -> Int64

    /// Returns the sealed data key of the outbox; nil for an outbox that is not sealed.
    func sealedKey() async throws(OutboxError) -> SealedKey?

    /// Stores the sealed data key of an outbox that has none.
    ///
    /// - Parameter key: The key.
    /// - Returns: The stored key, which is another when the outbox has one.
    /// - Throws: ``OutboxError``, also while other relays use the outbox; nothing has changed then.
    func addSealedKey(_ key: SealedKey) async throws(OutboxError) -> SealedKey

    /// Seals the rows that were stored before the outbox had a data key, and makes the key complete.
    ///
    /// - Parameter seal: The encryption with the stored data key.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func sealRows(with seal: OutboxSeal) async throws(OutboxError)

    /// Replaces the sealed data key by the same one, sealed with another key, unless another relay has replaced it.
    ///
    /// - Parameters:
    ///   - old: The key as it was read.
    ///   - new: The new form.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func replaceSealedKey(_ old: SealedKey, with new: SealedKey) async throws(OutboxError)

    /// Stores the position of a reader in a feed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor.
    ///   - reader: The name of the reader.
    /// - Throws: ``OutboxError``; the stored position is unchanged then.
    func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError)

    /// Returns the problems that a relay has stored last; nil when there are none.
    ///
    /// - Parameter relay: The name of the relay.
    /// - Returns: The problems as JSON.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func problems(of relay: String) async throws(OutboxError) -> String?

    /// Stores the problems of a relay in place of those that it has stored before, and deletes those of other relays
    /// that were stored before a time.
    ///
    /// - Parameters:
    ///   - problems: The problems as JSON, without tokens and payloads: a sealed outbox does not encrypt them.
    ///   - relay: The name of the relay.
    ///   - now: The time.
    ///   - time: The time before which those of other relays are deleted.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func storeProblems(
        _ problems: String,
        of relay: String,
        at now: Int64,
        deletingBefore time: Int64
    ) async throws(OutboxError)

    /// Deletes the counts of alerts of past days.
    ///
    /// - Parameters:
    ///   - time: The time: only days that ended before it, in UTC.
    ///   - limit: The maximum number of counts, so that other calls need not wait for long.
    /// - Returns: The number of deleted counts. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func forgetAlerts(before time: Int64, limit: Int) async throws(OutboxError) -> Int
}

extension OutboxRecords {
    /// Returns nil, for stores that cannot be sealed.
    package func sealedKey() async throws(OutboxError) -> SealedKey? { nil }

    /// Throws an error, for stores that cannot be sealed.
    package func addSealedKey(_ key: SealedKey) async throws(OutboxError) -> SealedKey {
        throw OutboxError(.unavailable, "the outbox cannot be sealed")
    }

    /// Throws an error, for stores that cannot be sealed.
    package func sealRows(with seal: OutboxSeal) async throws(OutboxError) {
        throw OutboxError(.unavailable, "the outbox cannot be sealed")
    }

    /// Throws an error, for stores that cannot be sealed.
    package func replaceSealedKey(_ old: SealedKey, with new: SealedKey) async throws(OutboxError) {
        throw OutboxError(.unavailable, "the outbox cannot be sealed")
    }
}
