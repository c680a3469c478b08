/// The rules about payloads ("Generating a remote notification" and "Pushing background updates to your App").
enum PayloadRules {
    /// Keys that Apple's tables name, which `aps` may have.
    private static let knownKeys: [String] = [
        "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content",
        "target-content-id", "interruption-level", "relevance-score", "filter-criteria", "stale-date",
        "content-state", "timestamp", "event", "dismissal-date", "attributes-type", "attributes", "input-push-token",
        "input-push-channel", "content-changed", "ptt-push-type", "url-args",
    ]

    static func size(_ count: Int, of type: PushType?) -> Lint.Finding? {
        size(count, limit: type?.payloadByteLimit ?? PushLimits.payloadByteCount)
    }

    static func broadcastSize(_ count: Int) -> Lint.Finding? {
        size(count, limit: PushLimits.broadcastPayloadByteCount)
    }

    private static func size(_ count: Int, limit: Int) -> Lint.Finding? {
        if count == 0 {
            return Lint.Finding("payload-empty", .error, .payload(""), "there is no payload", reason: .payloadEmpty)
        }
        guard count > limit else { return nil }
        return Lint.Finding(
            "payload-too-large",
            .error,
            .payload(""),
            "the payload has \(count) bytes, \(count - limit) more than the \(limit) allowed",
            reason: .payloadTooLarge
        )
    }

    static func notAnObject(_ error: JSONError?) -> Lint.Finding {
        // Apple names no answer for this on pushes to devices; it is the one of the other requests.
        Lint.Finding(
            "payload-not-json",
            .error,
            .payload(""),
            error.map { "the payload is no JSON: \($0)" } ?? "the payload is no JSON object",
            reason: .badRequestPayload
        )
    }

    /// What is wrong inside the payload.
    static func content(_ payload: [UInt8], of type: PushType?) -> [Lint.Finding] {
        guard !payload.isEmpty else { return [] }
        do throws(JSONError) {
            let value = try JSONReader.read(payload)
            guard value.members != nil else { return [notAnObject(nil)] }
            guard let aps = value["aps"] else { return missingDictionary(value, of: type) }
            guard let members = aps.members else {
                return [
                    Lint.Finding(
                        "aps-not-an-object",
                        .error,
                        .payload("/aps"),
                        "aps is no object: the phone ignores it"
                    )
                ]
            }
            return unknownKeys(members) + wrongValues(aps, of: type) + backgroundRules(aps, of: type)
        } catch {
            return [notAnObject(error)]
        }
    }

    /// What typed values can still get wrong.
    static func ranges(_ payload: Payload) -> Lint.Finding? {
        if let badge = payload.aps?.badge, badge < 0 { return negativeBadge }
        if let score = payload.aps?.relevanceScore, !(0...1).contains(score) { return scoreOutOfRange }
        if let volume = payload.aps?.sound?.volume, !(0...1).contains(volume) { return volumeOutOfRange }
        return nil
    }

    // MARK: Rules

    private static func missingDictionary(_ value: JSONValue, of type: PushType?) -> [Lint.Finding] {
        // These carry what the app, or its server, has agreed with itself.
        let ownContent: [PushType?] = [
            .accessory, .complication, .fileProvider, .location, .mdm, .pushToTalk, .voip,
        ]
        // Wallet passes are updated by an empty object.
        if value.members?.isEmpty == true || ownContent.contains(type) { return [] }
        return [
            Lint.Finding(
                "aps-missing",
                .warning,
                .payload(""),
                "there is no aps: the phone shows nothing and wakes no one"
            )
        ]
    }

    private static func unknownKeys(_ members: [JSONValue.Member]) -> [Lint.Finding] {
        members.filter { !knownKeys.contains($0.name) }.map { member in
            let near = knownKeys.first { plain($0) == plain(member.name) }
            return Lint.Finding(
                "aps-key-unknown",
                .warning,
                .payload(JSONPointer.path(["aps", member.name])),
                "the phone ignores the key \"\(member.name)\" in aps" + (near.map { ": was \"\($0)\" meant?" } ?? "")
            )
        }
    }

    private static func wrongValues(_ aps: JSONValue, of type: PushType?) -> [Lint.Finding] {
        var findings: [Lint.Finding] = []
        if let alert = aps["alert"], alert.stringValue == nil, alert.members == nil {
            findings.append(
                Lint.Finding("alert-wrong-type", .error, .payload("/aps/alert"), "an alert is an object or a string")
            )
        }
        if let badge = aps["badge"] {
            switch badge.integerValue {
            case nil:
                findings.append(
                    Lint.Finding("badge-not-a-number", .error, .payload("/aps/badge"), "a badge is a whole number")
                )
            case .some(..<0): findings.append(negativeBadge)
            default: break
            }
        }
        for key in ["content-available", "mutable-content"] {
            if let value = aps[key], value.integerValue != 1 {
                findings.append(
                    Lint.Finding(
                        "flag-not-one",
                        .error,
                        .payload("/aps/\(key)"),
                        "\(key) has to be the number 1 to have an effect"
                    )
                )
            }
        }
        if aps["mutable-content"] != nil, aps["alert"] == nil {
            findings.append(
                Lint.Finding(
                    "mutable-without-alert",
                    .warning,
                    .payload("/aps/mutable-content"),
                    "without an alert the service extension is never asked"
                )
            )
        }
        return findings + [interruptionLevel(aps), relevanceScore(aps, of: type), volume(aps)].compactMap(\.self)
    }

    private static func interruptionLevel(_ aps: JSONValue) -> Lint.Finding? {
        guard let value = aps["interruption-level"] else { return nil }
        let levels = InterruptionLevel.all.map(\.rawValue)
        guard let text = value.stringValue, levels.contains(text) else {
            let near = levels.first { plain($0) == plain(value.stringValue ?? "") }
            return Lint.Finding(
                "interruption-level-unknown",
                .error,
                .payload("/aps/interruption-level"),
                "an interruption level is one of \(levels.joined(separator: ", "))"
                    + (near.map { ": write \"\($0)\"" } ?? "")
            )
        }
        return nil
    }

    private static func relevanceScore(_ aps: JSONValue, of type: PushType?) -> Lint.Finding? {
        guard let value = aps["relevance-score"] else { return nil }
        guard case .number(let number) = value else {
            return Lint.Finding(
                "relevance-score-not-a-number",
                .error,
                .payload("/aps/relevance-score"),
                "a relevance score is a number"
            )
        }
        // Live Activities may rank by any number.
        return type == .liveActivity || (0...1).contains(number.doubleValue) ? nil : scoreOutOfRange
    }

    private static func volume(_ aps: JSONValue) -> Lint.Finding? {
        guard case .number(let number)? = aps["sound"]?["volume"], !(0...1).contains(number.doubleValue) else {
            return nil
        }
        return volumeOutOfRange
    }

    private static func backgroundRules(_ aps: JSONValue, of type: PushType?) -> [Lint.Finding] {
        guard type == .background else { return [] }
        var findings: [Lint.Finding] = []
        if aps["content-available"] == nil {
            findings.append(
                Lint.Finding(
                    "background-without-content-available",
                    .error,
                    .payload("/aps"),
                    "without content-available a background push wakes no one"
                )
            )
        }
        for key in ["alert", "badge", "sound"] where aps[key] != nil {
            findings.append(
                Lint.Finding(
                    "background-with-\(key)",
                    .error,
                    .payload("/aps/\(key)"),
                    "a background push has no \(key): send it with the push type alert"
                )
            )
        }
        return findings
    }

    private static let negativeBadge = Lint.Finding(
        "badge-negative",
        .error,
        .payload("/aps/badge"),
        "a badge is 0 or more"
    )
    private static let scoreOutOfRange = Lint.Finding(
        "relevance-score-out-of-range",
        .error,
        .payload("/aps/relevance-score"),
        "a relevance score goes from 0 to 1"
    )
    private static let volumeOutOfRange = Lint.Finding(
        "volume-out-of-range",
        .error,
        .payload("/aps/sound/volume"),
        "the volume of a sound goes from 0 to 1"
    )

    /// A key without what people mix up: case, hyphens and underscores.
    private static func plain(_ key: String) -> String {
        key.lowercased().filter { $0 != "-" && $0 != "_" }
    }
}
