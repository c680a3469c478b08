// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The removal of everything that the relay stores about a user of an app.
struct UserErasure {
    /// The number of pushes that are read at once.
    private static let page = 100

    private let app: String
    private let parts: RelayParts
    private(set) var installations = 0
    private(set) var cancelledPushes = 0
    private(set) var deadLetters = 0

    init(in app: String, _ parts: RelayParts) {
        self.app = app
        self.parts = parts
    }

    /// Cancels the waiting pushes to the user's tokens, deletes the dead letters, and removes the installations and
    /// tickets.
    ///
    /// The installations are removed last, so that a call that failed can be repeated: their tokens are known until
    /// then.
    mutating func run(for user: String) async throws(OutboxError) {
        let store = parts.outbox.installations
        var cursor: Int64 = 0
        while true {
            let found = try await store.installations(of: app, .user(user), after: cursor, limit: Self.page)
            guard let last = found.last else { break }
            cursor = last.number
            for token in Set(found.flatMap(\.installation.distinctTokens)) {
                try await cancelPushes(to: token)
                deadLetters += try await parts.outbox.records.deleteDeadLetters(to: token, of: app)
            }
        }
        installations = try await store.removeUser(user, of: app)
        if deadLetters > 0 { await parts.monitor.readDeadLetters() }
    }

    /// Cancels the pushes to a token that have not been sent.
    private mutating func cancelPushes(to token: DeviceToken) async throws(OutboxError) {
        var cursor: Int64 = 0
        while true {
            let found = try await parts.outbox.records.pushes(to: token, of: app, after: cursor, limit: Self.page)
            for push in found where push.status.state == .accepted {
                let status = try await parts.dispatcher.cancel(push.status.id, of: app)
                if case .ended(let outcome, _)? = status?.state, outcome.state == .cancelled { cancelledPushes += 1 }
            }
            guard let last = found.last else { return }
            cursor = last.number
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
