// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The place of a push token in the installation of an app, except the tokens of Live Activities.
///
/// Sources: "Registering your app with APNs", "Starting and updating Live Activities with ActivityKit push
/// notifications", "Updating widgets with WidgetKit push notifications", "Updating controls locally and remotely".
public enum PushTokenSlot: Sendable, Hashable {
    /// The token for alerts and background pushes.
    case device
    /// The token that starts Live Activities with attributes of a type, such as `OrderAttributes`.
    case start(attributesType: String)
    /// The token for widgets.
    case widgets
    /// The token of a control of a kind.
    case control(kind: String)

    var path: MemberPath {
        switch self {
        case .device: MemberPath("tokens", "device")
        case .start(let type): MemberPath("tokens", "start", type)
        case .widgets: MemberPath("tokens", "widgets")
        case .control(let kind): MemberPath("tokens", "controls", kind)
        }
    }
}

/// A text that an app reports about itself and its phone.
public enum PhoneAttribute: String, Sendable, Hashable, CaseIterable {
    /// The user's language and region, such as `de-CH` (BCP 47).
    case locale
    /// The time zone of the IANA database, such as `Europe/Zurich`.
    case timeZone = "time-zone"
    /// The version of the app.
    case appVersion = "app-version"
    /// The version of the operating system.
    case systemVersion = "system-version"
    /// The model of the phone, such as `iPhone17,1`.
    case model
}

/// A permission of the user that an app reports.
public enum PhonePermission: String, Sendable, Hashable, CaseIterable {
    /// The permission to show alerts.
    case alerts
    /// The permission to show Live Activities.
    case liveActivities = "live-activities"
    /// The permission to update Live Activities more frequently.
    case frequentUpdates = "frequent-updates"
}

/// The path of a member of an installation, such as `tokens`, `device`.
struct MemberPath: Sendable, Hashable, Codable {
    let names: [String]

    init(_ names: String...) {
        self.names = names
    }

    init(names: [String]) {
        self.names = names
    }

    static let environment = MemberPath("environment")
    static let bundleID = MemberPath("bundle-id")

    /// The path of the Live Activity with an identifier.
    static func activity(_ id: String) -> MemberPath { MemberPath("activities", id) }

    var isToken: Bool { names.first == "tokens" }
}

/// A value of a member.
enum MemberValue: Sendable, Hashable, Codable {
    case text(String)
    case flag(Bool)
    case activity(ReportedActivity)

    /// The Live Activity; nil for another value.
    var activity: ReportedActivity? {
        if case .activity(let activity) = self { activity } else { nil }
    }

    /// Returns the value, for a Live Activity without a token with that of another value.
    func withToken(of other: MemberValue?) -> MemberValue {
        guard var activity, activity.token == nil else { return self }
        activity.token = other?.activity?.token
        return .activity(activity)
    }

    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .flag(let flag): .bool(flag)
        case .activity(let activity): activity.json
        }
    }
}

extension [MemberPath: MemberValue?] {
    /// The members as a JSON Merge Patch (RFC 7396), in which null removes, sorted by name.
    var mergePatch: JSONValue { Self.object(of: map { ($0.key.names[...], $0.value?.json ?? .null) }) }

    private static func object(of members: [(names: ArraySlice<String>, value: JSONValue)]) -> JSONValue {
        let groups = [String: [(names: ArraySlice<String>, value: JSONValue)]](grouping: members) {
            $0.names.first ?? ""
        }
        return .object(
            groups.sorted { $0.key < $1.key }.map { name, group in
                if let leaf = group.first, leaf.names.count == 1 { return JSONValue.Member(name, leaf.value) }
                return JSONValue.Member(name, object(of: group.map { ($0.names.dropFirst(), $0.value) }))
            }
        )
    }
}

extension [MemberPath: MemberValue] {
    /// The members of an installation that an app reports, except its bundle identifier and its Live Activities.
    private static let names = Set(
        ["environment", "tokens", "permissions"] + PhoneAttribute.allCases.map(\.rawValue)
    )

    /// Reads the members that an app reports from an installation in an answer of the relay, without the Live
    /// Activities that have ended.
    init(reading installation: JSONValue) {
        self.init()
        for member in installation.members ?? [] where Self.names.contains(member.name) {
            read(member.value, at: [member.name])
        }
        for member in installation["activities"]?.members ?? [] {
            self[.activity(member.name)] = ReportedActivity(reading: member.value).map { MemberValue.activity($0) }
        }
    }

    private mutating func read(_ value: JSONValue, at names: [String]) {
        switch value {
        case .string(let text): self[MemberPath(names: names)] = .text(text)
        case .bool(let flag): self[MemberPath(names: names)] = .flag(flag)
        case .object(let members): for member in members { read(member.value, at: names + [member.name]) }
        case .null, .number, .array: break
        }
    }
}
