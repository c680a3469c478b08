// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let pushTypeMismatch = PushLint.Rule("push-type-mismatch", .error, .sending)
        .when("the payload has keys of another push type, or the topic is one for MDM")
    static let alertShouldBeBackground = PushLint.Rule("alert-should-be-background", .warning, .background)
        .when("a push of type alert only wakes the app")
    static let alertShowsNothing = PushLint.Rule("alert-shows-nothing", .warning, .payload)
        .when("a push of type alert has neither alert nor sound nor badge")
    static let backgroundWithoutContentAvailable = PushLint.Rule(
        "background-without-content-available",
        .error,
        .background
    )
    .when("a background push lacks content-available")
    static let backgroundWithAlert = PushLint.Rule("background-with-alert", .error, .background)
        .when("a background push has an alert")
    static let backgroundWithBadge = PushLint.Rule("background-with-badge", .error, .background)
        .when("a background push has a badge")
    static let backgroundWithSound = PushLint.Rule("background-with-sound", .error, .background)
        .when("a background push has a sound")
    static let backgroundWithOtherKey = PushLint.Rule("background-with-other-key", .warning, .background)
        .when("a background push has a key in aps that is only for notifications or Live Activities")
}

/// The rules about a push type that does not fit the payload ("Sending notification requests to APNs", "Pushing
/// background updates to your App").
enum PushTypeRules {
    static let all: [PushLint.Rule] = [
        .pushTypeMismatch, .alertShouldBeBackground, .alertShowsNothing, .backgroundWithoutContentAvailable,
        .backgroundWithAlert, .backgroundWithBadge, .backgroundWithSound, .backgroundWithOtherKey,
    ]

    /// The keys that only pushes of some types have, with these types.
    private static let identifyingKeys: [(keys: [String], types: [PushType])] =
        PushType.descriptors.reduce(into: []) { groups, descriptor in
            guard !descriptor.identifyingKeys.isEmpty else { return }
            if let index = groups.firstIndex(where: { $0.keys == descriptor.identifyingKeys }) {
                groups[index].types.append(descriptor.type)
            } else {
                groups.append((descriptor.identifyingKeys, [descriptor.type]))
            }
        }
    private static let signs: [(key: String, rule: PushLint.Rule)] = [
        ("alert", .backgroundWithAlert), ("badge", .backgroundWithBadge), ("sound", .backgroundWithSound),
    ]

    /// Checks the push type header; if it is missing, the finding names the likely type.
    static func pushType(_ push: PushFacts) -> PushLint.Finding? {
        if let type = push.declaredType { return HeaderRules.pushType(type) }
        let aps = push.payload?["aps"]
        // Apple names no push type for updates of Wallet passes, whose topics have no suffix, or for notifications of
        // websites.
        guard !push.isForPass, !push.isForWebsite, aps?["url-args"] == nil else { return nil }
        return HeaderRules.pushType(nil, likely: likelyType(of: push, aps))
    }

    static func check(_ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard let type = push.type, type.isKnown else { return [] }
        return mismatches(aps, of: type) + silentAlert(aps, of: type) + background(aps, of: type)
    }

    /// Reports an alert that shows nothing, if no other rule has a finding.
    static func nothingToShow(_ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.type == .alert, !hasSign(aps) else { return [] }
        let message = "there is neither alert nor sound nor badge: the phone shows nothing"
        return [PushLint.Finding(.alertShowsNothing, .payload("/aps"), message)]
    }

    private static func likelyType(of push: PushFacts, _ aps: JSONValue?) -> PushType? {
        if let type = push.type { return type }
        guard let aps, aps.members != nil else { return nil }
        if let group = identifyingKeys.first(where: { $0.keys.contains { aps[$0] != nil } }) {
            return group.types.count == 1 ? group.types.first : nil
        }
        if hasSign(aps) { return .alert }
        return aps["content-available"] == nil ? nil : .background
    }

    /// Whether the push shows an alert, sets the badge or plays a sound.
    private static func hasSign(_ aps: JSONValue) -> Bool {
        let alert = aps["alert"]
        return alert?.isEmptyAlert == false || aps["badge"] != nil || aps["sound"] != nil
    }

    private static func mismatches(_ aps: JSONValue, of type: PushType) -> [PushLint.Finding] {
        identifyingKeys.filter { !$0.types.contains(type) }.compactMap { keys, types in
            // In the aps of a type with its own content, the app may define any key that is not of such a type.
            guard !type.carriesOwnContent || types.allSatisfy(\.carriesOwnContent),
                let key = keys.first(where: { aps[$0] != nil })
            else { return nil }
            let right = types.map(\.rawValue).joined(separator: " or ")
            let message =
                "\(key) is for pushes of type \(right), not \(type.rawValue): APNs may refuse or drop the push, and the"
                + " phone ignores the key"
            return PushLint.Finding(.pushTypeMismatch, .header("apns-push-type"), message)
        }
    }

    private static func silentAlert(_ aps: JSONValue, of type: PushType) -> [PushLint.Finding] {
        guard type == .alert, aps["content-available"] != nil, !hasSign(aps) else { return [] }
        let message =
            "the push wakes the app and shows nothing: as an alert APNs may delay or drop it; send it with the push"
            + " type background and priority 5"
        return [PushLint.Finding(.alertShouldBeBackground, .header("apns-push-type"), message)]
    }

    /// Apple's keys that have no other rule in a background push, whose `aps` has only content-available.
    private static let keysWithoutSign = Set(PayloadKey.aps.map(\.name))
        .subtracting(["content-available"] + signs.map(\.key) + identifyingKeys.flatMap(\.keys))

    private static func background(_ aps: JSONValue, of type: PushType) -> [PushLint.Finding] {
        guard type == .background else { return [] }
        var findings: [PushLint.Finding] = []
        if aps["content-available"] == nil {
            let message = "without content-available a background push does not wake the app"
            findings.append(PushLint.Finding(.backgroundWithoutContentAvailable, .payload("/aps"), message))
        }
        for (key, rule) in signs where aps[key] != nil {
            let message =
                "a background push must not have \(key), and APNs may delay or drop it: send it with the push"
                + " type alert"
            findings.append(PushLint.Finding(rule, .payload("/aps/\(key)"), message))
        }
        for name in (aps.members ?? []).map(\.name) where keysWithoutSign.contains(name) {
            let message = "the aps of a background push has content-available alone: \(name) has no effect"
            findings.append(
                PushLint.Finding(.backgroundWithOtherKey, .payload(JSONPointer.path(["aps", name])), message)
            )
        }
        return findings
    }
}
