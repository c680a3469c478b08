// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The token of a phone that a push needs, and the permission that the user may have taken away.
struct PushNeed {
    let slot: Installation.TokenSlot
    let permission: Installation.Permission?

    private init(_ slot: Installation.TokenSlot, permission: Installation.Permission? = nil) {
        self.slot = slot
        self.permission = permission
    }

    /// Creates the need of a push type; nil for one that needs a token with a name, or that no installation has.
    init?(_ type: PushType) {
        switch type {
        case .alert: self.init(Installation.TokenSlot(.device), permission: .alerts)
        case .background: self.init(Installation.TokenSlot(.device))
        case .widgets: self.init(Installation.TokenSlot(.widgets))
        default: return nil
        }
    }

    /// Returns the need of a push that starts a Live Activity.
    static func start(_ attributesType: String) -> PushNeed {
        PushNeed(Installation.TokenSlot(.start, attributesType), permission: .liveActivities)
    }

    /// Returns the need of a push that updates or ends a Live Activity.
    static func activity(_ identifier: String) -> PushNeed {
        PushNeed(Installation.TokenSlot(.activity, identifier), permission: .liveActivities)
    }

    /// Returns the need of a push to a control.
    static func control(_ kind: String) -> PushNeed { PushNeed(Installation.TokenSlot(.control, kind)) }

    /// Returns the reason why a push is not sent to a member of an audience; nil when it is sent.
    func leftOutReason(of member: AudienceMember, in app: RelayConfiguration.App) -> LeftOutReason? {
        guard app.environments.contains(member.environment), app.bundleIDs.contains(member.bundleID) else {
            return .notConfigured
        }
        guard permission.map({ member.permissions[$0] ?? true }) ?? true else { return .notAllowed }
        return member.token == nil ? .noToken : nil
    }
}
