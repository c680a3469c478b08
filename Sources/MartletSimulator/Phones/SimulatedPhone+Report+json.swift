// SPDX-License-Identifier: Apache-2.0

package import LiveSurfaces
package import MartletCore

extension SimulatedPhone.Report.Content {
    /// Returns the report as a JSON Merge Patch of the phone's installation, as apps send it to a relay.
    package func change(of app: SimulatedPhone.App) -> JSONValue {
        switch self {
        case .systemVersion(let version): ["system-version": .string(version)]
        case .deviceToken(let token): ["tokens": ["device": .string(token.hex)]]
        case .pushToStartToken(let token):
            ["tokens": ["start": .object([JSONValue.Member(app.attributesType, .string(token.hex))])]]
        case .widgetToken(let token, _): ["tokens": ["widgets": .string(token.hex)]]
        case .controlTokens(let controls):
            ["tokens": ["controls": .object(controls.map { JSONValue.Member($0.kind, .string($0.token.hex)) })]]
        case .permissions(let permissions): ["permissions": permissions.json]
        case .activities(let activities):
            ["activities": .object(activities.map { JSONValue.Member($0.id, $0.change) })]
        case .ended(let ending): ["activities": .object([JSONValue.Member(ending.id, ending.change)])]
        }
    }

    /// The tokens in the report.
    package var tokens: [DeviceToken] {
        switch self {
        case .deviceToken(let token), .pushToStartToken(let token), .widgetToken(let token, _): [token]
        case .controlTokens(let controls): controls.map(\.token)
        case .activities(let activities): activities.compactMap(\.token)
        case .systemVersion, .permissions, .ended: []
        }
    }
}

extension SimulatedPhone.Permissions {
    /// The permissions as the HTTP interface shows them.
    var json: JSONValue {
        [
            "alerts": .bool(alerts), "live-activities": .bool(liveActivities),
            "frequent-updates": .bool(frequentUpdates),
        ]
    }
}

extension SimulatedPhone.Report.Activity {
    fileprivate var change: JSONValue {
        .members([
            "surface": .string(surface), "started-at": .integer(startedAt.millisecondsSince1970),
            "started-by": .string(isStartedByPush ? "push" : "app"), "token": token.map { .string($0.hex) },
        ])
    }
}

extension SimulatedPhone.Report.Ending {
    fileprivate var change: JSONValue {
        [
            "surface": .string(surface),
            "ended": ["cause": .string(cause.reported.rawValue), "at": .integer(endedAt.millisecondsSince1970)],
        ]
    }
}

extension SimulatedPhone.Report.EndCause {
    /// The cause as an app reports it; a push ends an activity on behalf of the app.
    package var reported: ActivityEndCause {
        switch self {
        case .user: .user
        case .app, .push: .app
        case .system: .system
        }
    }
}
