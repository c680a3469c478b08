// SPDX-License-Identifier: Apache-2.0

/// A key of Apple's tables: the required kind of its value, and the consequence of any other.
struct PayloadKey {
    /// The required kind of a value.
    enum Kind {
        /// Any value; other rules check it.
        case any
        case text
        case texts
        case number
        case wholeNumber
        /// The number 1, as Apple writes most flags.
        case one
        /// `true`, as Apple writes one flag.
        case yes
        case object
        case objectOrText
        /// Text in base64 with padding (RFC 4648 §4).
        case base64
        /// A string of decimal digits.
        case digits

        /// Whether the value must be a string of a certain form.
        var isFormOfText: Bool {
            switch self {
            case .base64, .digits: true
            default: false
            }
        }
    }

    let name: String
    let kind: Kind
    /// The consequence of a value of another kind.
    let consequence: String
    let rule: PushLint.Rule

    init(_ name: String, _ kind: Kind, else consequence: String = "", rule: PushLint.Rule = .valueWrongType) {
        self.name = name
        self.kind = kind
        self.consequence = consequence
        self.rule = rule
    }

    /// Checks the kind of a value; returns nil if it is correct.
    func finding(for value: JSONValue, in path: [String]) -> PushLint.Finding? {
        guard !kind.takes(value) else { return nil }
        let found = kind.isFormOfText && value.stringValue != nil ? "another string" : value.kindInWords
        let message = "\(name) must be \(kind.inWords) (found \(found)): \(consequence)"
        return PushLint.Finding(rule, .payload(JSONPointer.path(path + [name])), message)
    }
}

extension PayloadKey.Kind {
    fileprivate func takes(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.any, _), (.text, .string), (.number, .number), (.object, .object): true
        case (.objectOrText, .object), (.objectOrText, .string): true
        case (.texts, .array(let elements)): elements.allSatisfy { $0.stringValue != nil }
        case (.wholeNumber, .number(let number)): number.wholeValue != nil
        case (.one, .number(let number)): number.wholeValue == 1
        case (.yes, .bool(let value)): value
        case (.base64, .string(let text)): text.isBase64
        case (.digits, .string(let text)): !text.isEmpty && text.utf8.allSatisfy(\.isDigit)
        default: false
        }
    }

    fileprivate var inWords: String {
        switch self {
        case .any: "any value"
        case .text: "a string"
        case .texts: "an array of strings"
        case .number: "a number"
        case .wholeNumber: "a whole number"
        case .one: "the number 1"
        case .yes: "true"
        case .object: "an object"
        case .objectOrText: "an object or a string"
        case .base64: "a string in base64"
        case .digits: "a decimal number in a string"
        }
    }
}

extension JSONValue {
    fileprivate var kindInWords: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number.text.utf8.count < 20 ? number.text : "a number"
        case .string: "a string"
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array with other values"
        case .object: "an object"
        }
    }

    /// The number in double precision; nil when this is no number.
    var doubleValue: Double? {
        if case .number(let number) = self { number.doubleValue } else { nil }
    }
}

/// The keys of Apple's tables ("Generating a remote notification", and ActivityKit's article for Live Activities).
extension PayloadKey {
    /// Keys of `aps`: those whose values are checked, and the other keys that identify push types.
    static let aps: [PayloadKey] =
        checked
        + Set(PushType.descriptors.flatMap(\.identifyingKeys)).subtracting(checked.map(\.name)).sorted().map {
            PayloadKey($0, .any)
        }

    private static let checked: [PayloadKey] = [
        PayloadKey("alert", .objectOrText, else: "the phone shows nothing", rule: .alertWrongType),
        PayloadKey("badge", .wholeNumber, else: "the icon keeps its number", rule: .badgeNotANumber),
        PayloadKey("sound", .objectOrText, else: "the phone plays no sound"),
        PayloadKey("thread-id", .text, else: "the notification is not grouped"),
        PayloadKey("category", .text, else: "the notification has no actions"),
        PayloadKey("content-available", .one, else: "the app is not woken", rule: .flagNotOne),
        PayloadKey("mutable-content", .one, else: "the service extension does not run", rule: .flagNotOne),
        PayloadKey("target-content-id", .text, else: "no window is brought forward"),
        PayloadKey("interruption-level", .any),
        PayloadKey(
            "relevance-score",
            .number,
            else: "the phone ranks it as if there were none",
            rule: .relevanceScoreNotANumber
        ),
        PayloadKey("filter-criteria", .text, else: "the Focus filter is not evaluated"),
        PayloadKey("stale-date", .number, else: "the content never counts as outdated"),
        PayloadKey("content-state", .object, else: "the activity keeps what it shows"),
        PayloadKey("timestamp", .wholeNumber, else: "the phone cannot order the push, and drops it"),
        PayloadKey("event", .text, else: "the phone drops the push"),
        PayloadKey("dismissal-date", .number, else: "the system decides when to remove the activity"),
        PayloadKey("attributes-type", .text, else: "no activity starts"),
        PayloadKey("attributes", .object, else: "no activity starts"),
        PayloadKey(
            "input-push-token",
            .one,
            else: "the phone ignores the key, and starts the activity as it does without one",
            rule: .flagNotOne
        ),
        PayloadKey("input-push-channel", .text, else: "the activity does not listen on the channel"),
        PayloadKey("content-changed", .yes, else: "nothing is reloaded", rule: .contentChangedNotTrue),
        PayloadKey("ptt-push-type", .text, else: "the app does not update its service"),
        PayloadKey("url-args", .texts, else: "the notification opens nothing"),
    ]

    /// Keys of `aps` in a push of type accessory ("Responding to forwarded notifications").
    static let accessory: [PayloadKey] = [
        PayloadKey("encryptedData", .base64, else: "there is nothing to decrypt", rule: .accessoryValueWrong),
        PayloadKey("sessionIdentifier", .text, else: "the session is not known", rule: .accessoryValueWrong),
        PayloadKey("keyID", .base64, else: "the data cannot be decrypted", rule: .accessoryValueWrong),
        PayloadKey("messageIndex", .digits, else: "the data cannot be decrypted", rule: .accessoryValueWrong),
    ]

    private static let placeholders = "the placeholders are not filled"

    /// Keys of `alert`.
    static let alert: [PayloadKey] = [
        PayloadKey("title", .text, else: "the phone does not show it"),
        PayloadKey("subtitle", .text, else: "the phone does not show it"),
        PayloadKey("body", .text, else: "the phone does not show it"),
        PayloadKey("launch-image", .text, else: "the app launches with its default image"),
        PayloadKey("title-loc-key", .text, else: "the notification has no title"),
        PayloadKey("title-loc-args", .texts, else: placeholders),
        PayloadKey("subtitle-loc-key", .text, else: "the notification has no subtitle"),
        PayloadKey("subtitle-loc-args", .texts, else: placeholders),
        PayloadKey("loc-key", .text, else: "the notification has no body"),
        PayloadKey("loc-args", .texts, else: placeholders),
        // Used by older systems and by websites.
        PayloadKey("action", .text, else: "the button has its default title"),
        PayloadKey("action-loc-key", .any),
        PayloadKey("summary-arg", .any),
        PayloadKey("summary-arg-count", .any),
    ]

    /// Keys of `alert` in a push about a Live Activity, whose texts may be objects.
    static let activityAlert: [PayloadKey] =
        [
            PayloadKey("title", .objectOrText, else: "the phone does not show it"),
            PayloadKey("body", .objectOrText, else: "the phone does not show it"),
            PayloadKey("sound", .objectOrText, else: "the phone plays no sound"),
        ] + alert.filter { !["title", "body"].contains($0.name) }

    static let localizedText: [PayloadKey] = [
        PayloadKey("loc-key", .text, else: "the text is empty"),
        PayloadKey("loc-args", .texts, else: placeholders),
    ]

    static let sound: [PayloadKey] = [
        PayloadKey("critical", .wholeNumber, else: "the mute switch silences it"),
        PayloadKey("name", .text, else: "the phone plays no sound"),
        PayloadKey("volume", .number, else: "it has the default volume"),
    ]
}
