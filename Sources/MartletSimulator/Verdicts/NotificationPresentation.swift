// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The presentation of a notification by a phone ("Generating a remote notification" and
/// "UNNotificationInterruptionLevel"), without I/O.
///
/// The user's settings and the app's extensions can change it on a real phone.
struct NotificationPresentation: Sendable, Hashable {
    typealias Part = PushVerdict.Part

    /// The place where the phone shows the notification.
    enum Appearance: Sendable, Hashable {
        /// A banner, the Lock Screen and the notification list.
        case banner
        /// The notification list only.
        case list
        /// No place: there is no text.
        case none
    }

    /// The place, with the reason for one other than a banner.
    let appearance: Appearance
    /// The interruption level, with the reason for one that the payload does not name.
    private let level: Part
    /// The name of the sound; nil for none.
    let sound: String?
    /// The new number on the app's icon, 0 to remove it; nil when it does not change.
    let badge: Int64?
    /// The thread that groups the notification; nil for none.
    let thread: String?
    /// The sound and the badge, or the reasons for their absence.
    private let soundPart, badgePart: Part
    /// Whether the push wakes the app in the background.
    let wakesApp: Bool
    /// The presentation in words.
    let parts: [Part]

    /// Creates the presentation of an alert from the member `aps` of its payload.
    init(aps: JSONValue) {
        let (level, levelPart) = NotificationPresentation.level(aps)
        self.level = levelPart
        let isVisible = NotificationPresentation.hasText(aps)
        let isPassive = level == .passive
        appearance = isVisible ? (isPassive ? .list : .banner) : .none
        let isImmediate = isVisible && (level == .timeSensitive || level == .critical)
        let sound = SoundPresentation(aps["sound"], at: "aps.sound", isPassive: isPassive)
        self.sound = sound.name
        soundPart = sound.part
        thread = isVisible ? aps["thread-id"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } : nil
        wakesApp = NotificationPresentation.wakesApp(aps)
        let runsServiceExtension = isVisible && aps["mutable-content"]?.wholeValue == 1
        let badge = NotificationPresentation.badge(aps["badge"])
        self.badge = badge.number
        badgePart = badge.part
        parts =
            [
                NotificationPresentation.appearance(of: aps, isPassive: isPassive),
                isImmediate ? Part(levelPart.text, at: levelPart.place) : nil,
                isVisible || sound.name != nil ? sound.part : nil, aps["badge"] == nil ? nil : badge.part,
                thread.map { Part("thread \(NotificationPresentation.excerpt($0))", at: .aps("thread-id")) },
                runsServiceExtension ? Part("service extension runs", at: .aps("mutable-content")) : nil,
                wakesApp ? Part("wakes the app", at: .aps("content-available")) : nil,
            ]
            .compactMap(\.self)
    }

    /// The sound and the badge in words, without those that are absent.
    var effects: [String] {
        [sound == nil ? nil : soundPart.text, badge == nil ? nil : badgePart.text].compactMap(\.self)
    }

    /// Whether the push only wakes the app.
    var isSilent: Bool { appearance == .none && sound == nil && badge == nil && wakesApp }

    /// Returns whether a phone shows a notification for a push with these headers and this payload.
    static func isVisible(_ headers: PushHeaders, _ payload: JSONValue?) -> Bool {
        guard headers.isAlert, !headers.isForWalletPass, let aps = payload?["aps"] else { return false }
        return hasText(aps)
    }

    /// Returns whether an alert has a text, which a phone requires to show it.
    static func hasText(_ aps: JSONValue) -> Bool {
        guard let alert = aps["alert"] else { return false }
        if let text = alert.stringValue { return !text.isEmpty }
        return textKeys.contains { name in
            guard let text = alert[name]?.stringValue else { return false }
            return !text.isEmpty
        }
    }

    private static let textKeys = ["title", "body", "subtitle", "title-loc-key", "loc-key", "subtitle-loc-key"]

    /// Returns whether a push wakes the app in the background.
    static func wakesApp(_ aps: JSONValue?) -> Bool { aps?["content-available"]?.wholeValue == 1 }

    /// Returns the beginning of a text of the app, because it can be long.
    static func excerpt(_ text: String) -> String {
        let limit = 40
        return text.count > limit ? text.prefix(limit) + "…" : text
    }

    /// Returns the interruption level of an alert, and its reason; a critical sound makes an alert critical.
    private static func level(_ aps: JSONValue) -> (PushNotification.InterruptionLevel, Part) {
        let value = aps["interruption-level"]
        let named = PushNotification.InterruptionLevel.all.first { $0.rawValue == value?.stringValue }
        let place = PushLint.Place.aps("interruption-level")
        if let named, named == .passive || named == .critical { return (named, Part(named.rawValue, at: place)) }
        guard aps["sound"]?["critical"]?.wholeValue != 1 else {
            return (.critical, Part("critical", "aps.sound.critical is 1", at: .aps("sound/critical")))
        }
        if let named { return (named, Part(named.rawValue, at: place)) }
        let cause = "aps.interruption-level is \(value == nil ? "missing" : "not a level")"
        return (.active, Part("active", cause, at: place))
    }

    private static func appearance(of aps: JSONValue, isPassive: Bool) -> Part {
        guard hasText(aps) else {
            guard let alert = aps["alert"] else { return Part("no banner", "aps.alert is missing", at: .aps("alert")) }
            let hasWrongType = alert.stringValue == nil && alert.members == nil
            let cause = hasWrongType ? "aps.alert is neither a string nor an object" : "aps.alert has no text"
            return Part("no banner", cause, at: .aps("alert"))
        }
        guard isPassive else { return Part("banner", at: .aps("alert")) }
        return Part("in the list only", "aps.interruption-level is passive", at: .aps("interruption-level"))
    }

    private static func badge(_ value: JSONValue?) -> (number: Int64?, part: Part) {
        guard let value else { return (nil, Part("badge unchanged", "aps.badge is missing", at: .aps("badge"))) }
        guard let number = value.wholeValue else {
            return (nil, Part("badge unchanged", "aps.badge is not a whole number", at: .aps("badge")))
        }
        guard number >= 0 else { return (nil, Part("badge unchanged", "aps.badge is below 0", at: .aps("badge"))) }
        return (number, Part(number == 0 ? "badge removed" : "badge \(number)", at: .aps("badge")))
    }
}

extension NotificationPresentation {
    /// Returns what the pages need besides a push and its presentation: the sound and the badge of a notification
    /// without text, such as `badge 7`, and whether the push is for a Wallet pass.
    static func effects(_ headers: PushHeaders, isBroadcast: Bool, _ payload: JSONValue?) -> [JSONValue.Member] {
        guard !isBroadcast else { return [] }
        guard !headers.isForWalletPass else { return [JSONValue.Member("wallet-pass", true)] }
        guard headers.isAlert, let aps = payload?["aps"], !hasText(aps) else { return [] }
        let effects = NotificationPresentation(aps: aps).effects
        return effects.isEmpty ? [] : [JSONValue.Member("effects", .strings(effects))]
    }

    /// Returns the interruption level, the sound and the badge of a push's alert as JSON, for previews; nil for a
    /// push without an alert.
    ///
    /// - Parameters:
    ///   - headers: The headers of the push.
    ///   - isBroadcast: Whether the push is a broadcast, which is for Live Activities.
    ///   - payload: The payload.
    /// - Returns: An object with a part of a verdict for each.
    static func json(_ headers: PushHeaders, isBroadcast: Bool, _ payload: JSONValue?) -> JSONValue? {
        guard let aps = payload?["aps"], aps.members != nil else { return nil }
        if isBroadcast || headers.isForLiveActivity {
            return ActivityPresentation.sound(aps).map { ["sound": $0.part.json] }
        }
        guard headers.isAlert, !headers.isForWalletPass else { return nil }
        let presentation = NotificationPresentation(aps: aps)
        let badge = presentation.badgePart.json.members ?? []
        let number = presentation.badge.map { JSONValue.Member("number", .integer($0)) }
        return [
            "level": presentation.level.json, "sound": presentation.soundPart.json,
            "badge": .object(badge + [number].compactMap(\.self)),
        ]
    }
}

/// The sound of a notification, or of the alert of a Live Activity.
struct SoundPresentation: Sendable, Hashable {
    /// The name of the sound; nil for none.
    let name: String?
    /// The sound, or the reason for its absence, in words.
    let part: PushVerdict.Part

    /// Creates a sound from the value at a path such as `aps.sound`.
    init(_ value: JSONValue?, at path: String, isPassive: Bool = false) {
        let place = PushLint.Place.payload("/" + path.split(separator: ".").joined(separator: "/"))
        func silence(_ cause: String, at place: PushLint.Place = place) -> PushVerdict.Part {
            PushVerdict.Part("no sound", cause, at: place)
        }
        guard let value else {
            name = nil
            part = silence("\(path) is missing")
            return
        }
        guard !isPassive else {
            name = nil
            part = silence("aps.interruption-level is passive", at: .aps("interruption-level"))
            return
        }
        let isObject = value.members != nil
        let sound = isObject ? value["name"].map { $0.stringValue ?? "" } ?? "default" : value.stringValue
        guard let sound, !sound.isEmpty else {
            name = nil
            let cause = value.stringValue == nil && !isObject ? "neither a string nor an object" : "empty"
            part = silence("\(path)\(isObject ? ".name" : "") is \(cause)")
            return
        }
        if case .number(let volume)? = value["volume"], volume.doubleValue == 0 {
            name = nil
            part = silence("\(path).volume is 0")
            return
        }
        name = sound
        let words = sound == "default" ? "default sound" : "sound \(NotificationPresentation.excerpt(sound))"
        part = PushVerdict.Part(words + SoundPresentation.volume(of: value), at: place)
    }

    /// Returns the volume of a critical sound in words; empty for the full volume, and for other sounds.
    private static func volume(of sound: JSONValue) -> String {
        guard sound["critical"]?.wholeValue == 1, case .number(let volume)? = sound["volume"],
            (0..<1).contains(volume.doubleValue)
        else { return "" }
        return " at \(Int((volume.doubleValue * 100).rounded())) % of the volume"
    }
}

extension PushHeaders {
    /// Whether the push is a notification by its type; a push without a type is one unless its topic implies another.
    ///
    /// The type is compared without case: Apple's pages spell it in several ways.
    var isAlert: Bool { resolvedPushType.map { $0.rawValue.lowercased() == PushType.alert.rawValue } ?? true }
    /// Whether the push asks a phone to update a Wallet pass, for which Apple names no push type ("Adding a Web Service
    /// to Update Passes").
    var isForWalletPass: Bool {
        guard topic?.hasPrefix("pass.") == true else { return false }
        return isAlert || resolvedPushType?.rawValue.lowercased() == PushType.background.rawValue
    }
    /// Whether the push is for a Live Activity by its type, also compared without case.
    var isForLiveActivity: Bool { resolvedPushType?.rawValue.lowercased() == PushType.liveActivity.rawValue }
}

extension ReceivedPush {
    /// Returns whether a phone has presented the push, whose payload is passed as JSON, as an alert without a sound.
    func isAlertWithoutSound(_ content: JSONValue?) -> Bool {
        guard wasAccepted, let aps = content?["aps"] else { return false }
        if isLiveActivity { return ActivityPresentation.sound(aps).map { $0.name == nil } ?? false }
        guard NotificationPresentation.isVisible(headers, content) else { return false }
        return NotificationPresentation(aps: aps).sound == nil
    }

    /// Whether a device accepted the push, as far as the simulator knows.
    private var wasAccepted: Bool {
        // A push from an export may lack delivery events.
        guard !deliveries.isEmpty else { return status == 200 && !isBroadcast }
        return deliveries.contains(where: \.kind.isDelivery)
    }
}

extension PushLint.Place {
    /// Returns a place in the member `aps` of the payload.
    static func aps(_ path: String) -> PushLint.Place { .payload("/aps/" + path) }
}
