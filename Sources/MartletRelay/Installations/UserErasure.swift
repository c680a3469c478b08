// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The removal of everything that the relay stores about a user of an app.
struct UserErasure {
    /// The number of pushes that one commit cancels, so that other calls need not wait for long.
    private static let step = 500

    private let app: String
    private let parts: RelayParts
    private(set) var installations = 0
    private(set) var cancelledPushes = 0
    private(set) var deadLetters = 0

    init(in app: String, _ parts: RelayParts) {
        self.app = app
        self.parts = parts
    }

    /// Cancels the waiting pushes of the user, deletes the dead letters, and removes the installations and tickets.
    ///
    /// The installations are removed after the pushes, so that a call that failed can be repeated: pushes that were
    /// accepted before a phone had enrolled are found by its tokens.
    mutating func run(for user: String) async throws(OutboxError) {
        try await cancelPushes(of: user)
        deadLetters = try await parts.outbox.records.deleteDeadLetters(ofUser: user, of: app)
        installations = try await parts.outbox.installations.removeUser(user, of: app)
        // The pushes that were accepted meanwhile.
        try await cancelPushes(of: user)
        if deadLetters > 0 { await parts.monitor.readDeadLetters() }
    }

    /// Cancels the pushes of the user that have not been sent.
    private mutating func cancelPushes(of user: String) async throws(OutboxError) {
        while true {
            let cancelled = try await parts.outbox.cancelPushes(ofUser: user, of: app, limit: Self.step, at: parts.now)
            guard !cancelled.isEmpty else { return }
            cancelledPushes += cancelled.count
            await parts.dispatcher.recordRemoval(of: cancelled)
        }
    }

    /// The numbers for the answer of the API.
    var json: JSONValue {
        [
            "installations": .whole(installations), "cancelled-pushes": .whole(cancelledPushes),
            "dead-letters": .whole(deadLetters),
        ]
    }
}
