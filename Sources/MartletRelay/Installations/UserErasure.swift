// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The removal of everything that the relay stores about a user of an app.
struct UserErasure {
    /// The number of pushes that one commit removes, so that other calls need not wait for long.
    private static let step = 100

    private let app: String
    private let parts: RelayParts
    private(set) var installations = 0
    private(set) var cancelledPushes = 0
    private(set) var deadLetters = 0

    init(in app: String, _ parts: RelayParts) {
        self.app = app
        self.parts = parts
    }

    /// Cancels the waiting pushes of the user, deletes the dead letters, and removes the installations, the tickets and
    /// the counts of alerts.
    ///
    /// The installations are removed after the pushes, so that a call that failed can be repeated: pushes that were
    /// accepted before a phone had enrolled are found by its tokens.
    mutating func run(for user: String) async throws(OutboxError) {
        let store = parts.outbox.installations
        let found = try await store.installations(of: app, .user(user), after: 0, limit: 1_000)
        for selection in PushSelection.all(ofUser: user, with: found.map(\.installation)) {
            try await erasePushes(selection)
        }
        installations = try await store.removeUser(user, of: app)
        // Pushes that a relay had claimed are sent or returned meanwhile.
        await parts.dispatcher.waitForHeldPushes()
        // These, and the pushes that were accepted meanwhile. The store accepts none from the removal on, unless the
        // user enrolls again.
        try await erasePushes(.user(user))
        try await parts.outbox.localFile?.discardRemovedContent()
        if deadLetters > 0 { await parts.monitor.readDeadLetters() }
    }

    /// Cancels the pushes of a selection that have not been sent, and deletes the dead letters.
    private mutating func erasePushes(_ selection: PushSelection) async throws(OutboxError) {
        var cursor: Int64?
        repeat {
            let erased = try await parts.outbox.erasePushes(
                selection,
                of: app,
                before: cursor,
                limit: Self.step,
                at: parts.now
            )
            cancelledPushes += erased.cancelled.count
            deadLetters += erased.deadLetters
            await parts.dispatcher.recordRemoval(of: erased.cancelled)
            cursor = erased.next
        } while cursor != nil
    }

    /// The numbers for the answer of the API.
    var json: JSONValue {
        [
            "installations": .whole(installations), "cancelled-pushes": .whole(cancelledPushes),
            "dead-letters": .whole(deadLetters),
        ]
    }
}
