// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let apsKeyUnknown = PushLint.Rule("aps-key-unknown", .warning, .payload)
        .when("a key in aps is not one of Apple's, possibly misspelled")
    static let alertKeyUnknown = PushLint.Rule("alert-key-unknown", .warning, .payload)
        .when("a key in alert is not one of Apple's, possibly misspelled")
    static let soundKeyUnknown = PushLint.Rule("sound-key-unknown", .warning, .payload)
        .when("a key in sound is not one of Apple's, possibly misspelled")
    static let apsKeyOutside = PushLint.Rule("aps-key-outside", .warning, .payload)
        .when("a key of Apple's is beside aps instead of in it")
    static let valueWrongType = PushLint.Rule("value-wrong-type", .error, .payload)
        .when("a value is of another JSON type than Apple's tables say")
    static let alertWrongType = PushLint.Rule("alert-wrong-type", .error, .payload)
        .when("alert is neither an object nor a string")
    static let badgeNotANumber = PushLint.Rule("badge-not-a-number", .error, .payload).when(
        "badge is not a whole number"
    )
    static let relevanceScoreNotANumber = PushLint.Rule("relevance-score-not-a-number", .error, .payload)
        .when("relevance-score is not a number")
    static let flagNotOne = PushLint.Rule("flag-not-one", .error, .payload)
        .when("content-available, mutable-content or input-push-token is not the number 1")
    static let keyForSimctl = PushLint.Rule("key-for-simctl", .warning, .payload)
        .when("the payload has the key Simulator Target Bundle, which is only for files of simctl push")
    static let contentChangedNotTrue = PushLint.Rule("content-changed-not-true", .error, .widgets)
        .when("content-changed is not true")
}

/// The rules about the keys in Apple's tables and the types of their values.
enum KeyRules {
    static let all: [PushLint.Rule] = [
        .apsKeyOutside, .apsKeyUnknown, .alertKeyUnknown, .soundKeyUnknown, .valueWrongType, .alertWrongType,
        .badgeNotANumber, .relevanceScoreNotANumber, .flagNotOne, .contentChangedNotTrue, .keyForSimctl,
    ]

    /// Keys that belong in `aps` and are unlikely to be custom keys when they are beside it.
    private static let tellingKeys: Set<String> = [
        "alert", "attributes-type", "badge", "content-available", "content-changed", "content-state", "dismissal-date",
        "interruption-level", "mutable-content", "relevance-score", "sound", "stale-date", "target-content-id",
        "thread-id",
    ]
    private static let unknownKeyLimit = 20

    /// An object of a payload with the table of its keys.
    private struct Table {
        var name: String
        var keys: [PayloadKey]
        /// The object whose keys may have been put here by mistake.
        var neighbour: (name: String, keys: [PayloadKey])?
        var unknown: PushLint.Rule
    }

    static func check(_ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        let isActivity = push.type == .liveActivity
        let alertKeys = isActivity ? PayloadKey.activityAlert : PayloadKey.alert
        let own = Table(
            name: "aps",
            keys: push.type == .accessory ? PayloadKey.accessory : PayloadKey.aps,
            neighbour: ("alert", PayloadKey.alert),
            unknown: .apsKeyUnknown
        )
        let alert = Table(name: "alert", keys: alertKeys, neighbour: ("aps", PayloadKey.aps), unknown: .alertKeyUnknown)
        return check(aps, own, at: ["aps"]) + check(aps["alert"], alert, at: ["aps", "alert"])
            + localizedTexts(of: aps["alert"])
            + check(aps["sound"], soundTable, at: ["aps", "sound"])
            + (isActivity ? check(aps["alert"]?["sound"], soundTable, at: ["aps", "alert", "sound"]) : [])
    }

    /// Returns findings about Apple's keys beside `aps`, where the phone does not look for them.
    static func outside(_ payload: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.type?.carriesOwnContent != true else { return [] }
        let aps = payload["aps"]
        let names = push.type == .accessory ? Set(PayloadKey.accessory.map(\.name)) : tellingKeys
        return (payload.members ?? []).filter { names.contains($0.name) && aps?[$0.name] == nil }.map { member in
            let message = "\(member.name) is beside aps, where the phone treats it as custom data: move it into aps"
            return PushLint.Finding(.apsKeyOutside, .payload(JSONPointer.path([member.name])), message)
        }
    }

    /// Returns the finding about the bundle identifier in a file for `xcrun simctl push`.
    static func forSimctl(_ payload: JSONValue) -> [PushLint.Finding] {
        let name = "Simulator Target Bundle"
        guard payload[name] != nil else { return [] }
        let message =
            "\(name) is for xcrun simctl push, which removes it: APNs sends it to the app as custom data, and takes the"
            + " app from apns-topic"
        return [PushLint.Finding(.keyForSimctl, .payload(JSONPointer.path([name])), message)]
    }

    private static let soundTable = Table(name: "sound", keys: PayloadKey.sound, unknown: .soundKeyUnknown)

    private static func localizedTexts(of alert: JSONValue?) -> [PushLint.Finding] {
        ["title", "body"].flatMap { name in
            let table = Table(name: name, keys: PayloadKey.localizedText, unknown: .alertKeyUnknown)
            // If a title must not be an object, another rule has reported it.
            return check(alert?[name], table, at: ["aps", "alert", name])
        }
    }

    private static func check(_ value: JSONValue?, _ table: Table, at path: [String]) -> [PushLint.Finding] {
        guard let members = value?.members else { return [] }
        var findings: [PushLint.Finding] = []
        var unknownCount = 0
        for member in members {
            if let key = table.keys.first(where: { $0.name == member.name }) {
                if let finding = key.finding(for: member.value, in: path) { findings.append(finding) }
            } else if unknownCount < unknownKeyLimit {
                unknownCount += 1
                findings.append(unknown(member.name, in: table, at: path))
            }
        }
        return findings
    }

    private static func unknown(_ name: String, in table: Table, at path: [String]) -> PushLint.Finding {
        var hint = NearestName.hint(for: name, among: table.keys.map(\.name))
        if let neighbour = table.neighbour, neighbour.keys.contains(where: { $0.name == name }) {
            hint = ": it belongs in \(neighbour.name)"
        }
        let message = "the phone ignores the key \(ShownValue.quoted(name)) in \(table.name)" + hint
        return PushLint.Finding(table.unknown, .payload(JSONPointer.shownPath(path + [name])), message)
    }
}
