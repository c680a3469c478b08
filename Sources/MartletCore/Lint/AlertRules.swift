// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let badgeNegative = PushLint.Rule("badge-negative", .error, .payload).when("badge is below 0")
    static let alertEmpty = PushLint.Rule("alert-empty", .warning, .payload)
        .when("alert is an empty string or an empty object")
    static let mutableWithoutAlert = PushLint.Rule("mutable-without-alert", .warning, .serviceExtension)
        .when("there is mutable-content without an alert")
    static let interruptionLevelUnknown = PushLint.Rule("interruption-level-unknown", .error, .payload)
        .when("interruption-level is not one of Apple's levels")
    static let criticalWithoutSound = PushLint.Rule("critical-without-sound", .warning, .payload)
        .when("a critical notification has no sound with critical 1")
    static let relevanceScoreOutOfRange = PushLint.Rule("relevance-score-out-of-range", .error, .payload)
        .when("the relevance-score of a notification is not from 0 to 1")
    static let volumeOutOfRange = PushLint.Rule("volume-out-of-range", .error, .payload)
        .when("the volume of a sound is not from 0 to 1")
    static let volumeWithoutCritical = PushLint.Rule("volume-without-critical", .warning, .payload)
        .when("a sound has a volume, and critical is not 1")
    static let soundFormatUnsupported = PushLint.Rule("sound-format-unsupported", .warning, .payload)
        .when("a sound is a file of a format such as mp3, not aiff, wav or caf")
    static let titleCut = PushLint.Rule("title-cut", .warning, .design)
        .when("the title is longer than its line on the Lock Screen")
    static let bodyCut = PushLint.Rule("body-cut", .warning, .design).when(
        "the body is longer than the Lock Screen shows"
    )
}

/// The rules about the content and sound of an alert ("Generating a remote notification").
enum AlertRules {
    static let all: [PushLint.Rule] = [
        .badgeNegative, .alertEmpty, .mutableWithoutAlert, .interruptionLevelUnknown, .criticalWithoutSound,
        .relevanceScoreOutOfRange, .volumeOutOfRange, .volumeWithoutCritical, .soundFormatUnsupported, .titleCut,
        .bodyCut,
    ]

    /// The approximate number of characters that fit; it depends on the letters, the device and the user's text size.
    private static let titleLength = 40
    private static let bodyLength = 180

    static let negativeBadge = PushLint.Finding(
        .badgeNegative,
        .payload("/aps/badge"),
        "badge must be 0 or more: the icon keeps its number"
    )
    static let scoreOutOfRange = PushLint.Finding(
        .relevanceScoreOutOfRange,
        .payload("/aps/relevance-score"),
        "relevance-score must be from 0 to 1: how the phone ranks the notification is not defined"
    )

    static func volumeOutOfRange(at path: [String]) -> PushLint.Finding {
        let message = "the volume of a sound must be from 0 to 1: the phone plays it at another volume"
        return PushLint.Finding(.volumeOutOfRange, .payload(JSONPointer.path(path + ["volume"])), message)
    }

    static func check(_ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        let findings = [
            badge(aps), emptyAlert(aps, of: push.type), mutableContent(aps), interruptionLevel(aps), criticalSound(aps),
            relevanceScore(aps, of: push.type), volume(of: aps, at: ["aps"]),
            volume(of: aps["alert"], at: ["aps", "alert"]), soundFormat(of: aps, at: ["aps"]),
            soundFormat(of: aps["alert"], at: ["aps", "alert"]),
        ]
        return findings.compactMap(\.self) + cuts(aps["alert"], of: push.type)
    }

    static func badge(_ aps: JSONValue) -> PushLint.Finding? {
        guard let badge = aps["badge"]?.wholeValue, badge < 0 else { return nil }
        return negativeBadge
    }

    private static func emptyAlert(_ aps: JSONValue, of type: PushType?) -> PushLint.Finding? {
        guard type == nil || type == .alert || type == .liveActivity, aps["alert"]?.isEmptyAlert == true else {
            return nil
        }
        return PushLint.Finding(
            .alertEmpty,
            .payload("/aps/alert"),
            "alert is empty: the phone shows no text for the push"
        )
    }

    private static func mutableContent(_ aps: JSONValue) -> PushLint.Finding? {
        guard aps["mutable-content"] != nil, aps["alert"] == nil else { return nil }
        let message = "without an alert the phone does not run the service extension"
        return PushLint.Finding(.mutableWithoutAlert, .payload("/aps/mutable-content"), message)
    }

    private static func interruptionLevel(_ aps: JSONValue) -> PushLint.Finding? {
        guard let value = aps["interruption-level"] else { return nil }
        let levels = PushNotification.InterruptionLevel.all.map(\.rawValue)
        let text = value.stringValue ?? ""
        guard !levels.contains(text) else { return nil }
        let message =
            "interruption-level must be one of \(levels.joined(separator: ", ")); the phone treats any other"
            + " as active" + NearestName.hint(for: text, among: levels)
        return PushLint.Finding(.interruptionLevelUnknown, .payload("/aps/interruption-level"), message)
    }

    private static func criticalSound(_ aps: JSONValue) -> PushLint.Finding? {
        guard aps["interruption-level"]?.stringValue == PushNotification.InterruptionLevel.critical.rawValue,
            aps["sound"]?["critical"]?.wholeValue != 1
        else { return nil }
        let message =
            "a critical notification needs a sound that is an object with critical 1: without one the mute switch keeps"
            + " the phone silent"
        return PushLint.Finding(.criticalWithoutSound, .payload(aps["sound"] == nil ? "/aps" : "/aps/sound"), message)
    }

    private static func relevanceScore(_ aps: JSONValue, of type: PushType?) -> PushLint.Finding? {
        // The relevance score of a Live Activity may be any number.
        guard let score = aps["relevance-score"]?.doubleValue, type != .liveActivity, !(0...1).contains(score) else {
            return nil
        }
        return scoreOutOfRange
    }

    private static func volume(of parent: JSONValue?, at path: [String]) -> PushLint.Finding? {
        guard let sound = parent?["sound"], let volume = sound["volume"]?.doubleValue else { return nil }
        guard (0...1).contains(volume) else { return volumeOutOfRange(at: path + ["sound"]) }
        guard sound["critical"]?.wholeValue != 1 else { return nil }
        let message = "volume is for critical alerts: without critical 1 the phone plays the sound at its own volume"
        let place = PushLint.Place.payload(JSONPointer.path(path + ["sound", "volume"]))
        return PushLint.Finding(.volumeWithoutCritical, place, message)
    }

    /// The extensions of audio files that a phone does not play as the sound of a notification.
    private static let unsupportedFormats: Set<String> = ["aac", "flac", "m4a", "mp3", "mp4", "ogg", "wma"]

    private static func soundFormat(of parent: JSONValue?, at path: [String]) -> PushLint.Finding? {
        guard let sound = parent?["sound"], let name = sound.stringValue ?? sound["name"]?.stringValue,
            let dot = name.lastIndex(of: ".")
        else { return nil }
        let format = name[dot...].dropFirst().lowercased()
        guard unsupportedFormats.contains(format) else { return nil }
        let message = "the sound of a notification must be an aiff, wav or caf file: the phone does not play \(format)"
        let place = path + (sound.stringValue == nil ? ["sound", "name"] : ["sound"])
        return PushLint.Finding(.soundFormatUnsupported, .payload(JSONPointer.path(place)), message)
    }

    // MARK: Texts that are cut

    private static func cuts(_ alert: JSONValue?, of type: PushType?) -> [PushLint.Finding] {
        guard let alert, type == nil || type == .alert || type == .liveActivity else { return [] }
        let title = cut(alert["title"]?.stringValue, at: titleLength, "title", .titleCut, "/aps/alert/title")
        let body =
            cut(alert.stringValue, at: bodyLength, "body", .bodyCut, "/aps/alert")
            ?? cut(alert["body"]?.stringValue, at: bodyLength, "body", .bodyCut, "/aps/alert/body")
        return [title, body].compactMap(\.self)
    }

    private static func cut(
        _ text: String?,
        at length: Int,
        _ name: String,
        _ rule: PushLint.Rule,
        _ pointer: String
    ) -> PushLint.Finding? {
        // Bytes are faster to count, and never fewer than characters.
        guard let text, text.utf8.count > length, text.count > length else { return nil }
        let lastWords = text.prefix(length).suffix(12).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let message =
            "the \(name) has \(text.count) characters: the Lock Screen shows about \(length) of them, up to"
            + " \"…\(lastWords)\""
        return PushLint.Finding(rule, .payload(pointer), message)
    }
}

extension JSONValue {
    /// Whether the value of `alert` is an empty string or an empty object.
    var isEmptyAlert: Bool { stringValue?.isEmpty == true || members?.isEmpty == true }
}
