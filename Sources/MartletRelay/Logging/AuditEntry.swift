// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A log entry about an administrative request.
package struct AuditEntry: Sendable {
    /// The outcome of an action.
    package enum Outcome: String, Sendable {
        case done
        case failed
        /// The store did not answer in time: the action may have been carried out.
        case unknown
    }

    /// The name of the caller, or of the signal.
    package var caller: String
    /// The action, such as `pause`.
    package var action: String
    /// The app; nil for an action on the whole relay.
    package var app: String?
    /// Apple's environment; nil for an action that is not about one lane.
    package var environment: String?
    /// The identifier of the push, the shortened device token or the number of the relay; nil without one.
    package var target: String?
    /// The number of pushes that the action has changed; nil for an action that changes none.
    package var count: Int64?
    /// The address of the client; nil when the listener does not report it.
    package var peer: String?
    /// The HTTP status of the answer; nil without one.
    package var status: Int?
    /// The outcome of the action.
    package var outcome: Outcome

    /// Creates an entry without optional values.
    package init(caller: String, action: String, isDone: Bool) {
        self.caller = caller
        self.action = action
        outcome = isDone ? .done : .failed
    }
}

extension Logger {
    /// Writes an audit line with the level `info`, whatever the logger's level is.
    package func audit(_ entry: AuditEntry) {
        write(
            .info,
            .audit,
            [
                "caller": .string(entry.caller), "action": .string(entry.action),
                "app": entry.app.map { .string($0.bounded) }, "env": entry.environment.map(JSONValue.string),
                "target": entry.target.map { .string($0.bounded) }, "count": .whole(entry.count),
                "peer": entry.peer.map(JSONValue.string), "status": .whole(entry.status),
                "result": .string(entry.outcome.rawValue),
            ]
        )
    }

    /// Logs the access that callers have lost.
    func revoked(_ access: RevokedAccess) {
        for loss in access.losses {
            info(
                .accessRevoked,
                [
                    "caller": .string(loss.caller), "scope": .string(loss.scope.rawValue),
                    "apps": .array(loss.apps.sorted().map(JSONValue.string)),
                ]
            )
        }
    }
}
