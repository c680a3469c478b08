// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The result of a push: the answer of APNs and the presentation by the phone, as far as the simulator knows.
///
/// The list, the previews, the HTTP interface and the exports read this one value.
public struct PushVerdict: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a result.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The push is visible on the phone: as a notification, in the notification list, or as a Live Activity.
        case shown
        /// The push reached the phone, and nothing is visible: it woke the app, changed the badge, or was for another
        /// part of the system.
        case delivered
        /// The push was shown, and a newer push has taken its place.
        case replaced
        /// The content of the push was shown by a Live Activity that has ended.
        case ended
        /// The device is offline, and APNs stores the push.
        case stored
        /// The push reached the phone, which ignored it.
        case notShown = "not-shown"
        /// The push never reached the phone: it expired, was replaced while it was stored, or could not be stored.
        case discarded
        /// APNs refused the push.
        case refused
        /// The answer was not written to the connection.
        case unanswered
    }

    /// A part of the result, with its cause in the push.
    public struct Part: Sendable, Hashable, CustomStringConvertible {
        /// The part, such as `no sound`.
        public let text: String
        /// The cause, such as `aps.sound is missing`; nil when the part needs no explanation.
        public let cause: String?
        /// The part of the push that is the cause.
        public let place: PushLint.Place?
        /// The time at the end of the text; nil for none.
        let time: VerdictTime?

        init(_ text: String, _ cause: String? = nil, at place: PushLint.Place? = nil) {
            self.text = text
            self.cause = cause
            self.place = place
            time = nil
        }

        /// Creates a part whose text ends with a time.
        init(_ text: String, _ time: VerdictTime, _ cause: String? = nil, at place: PushLint.Place) {
            self.text = "\(text) \(time.text)"
            self.cause = cause
            self.place = place
            self.time = time
        }

        /// The part with its cause in parentheses.
        public var description: String { cause.map { "\(text) (\($0))" } ?? text }
    }

    /// The kind of the result.
    public let kind: Kind
    /// The result on one line, such as `Delivered · banner · no sound (aps.sound is missing) · badge 3`.
    public let text: String
    /// The parts of the text that have a cause or a place in the push.
    public let parts: [Part]
    /// Whether the phone showed the push after its last delivery event, which an unanswered push can be as well.
    public let isOnScreen: Bool
    /// The time at which a stored push expires, in milliseconds since 1970.
    package let expiration: Int64?
    /// The time at which a stored push expires; nil for other pushes.
    public var expirationDate: Date? { expiration.map(Date.init(millisecondsSince1970:)) }
    /// The number of the push that replaced the push or ended its Live Activity; nil when none did.
    public let replacedBy: Int?
    /// Whether the simulator cannot know that the push has this result on a real phone.
    let isUncertain: Bool
    /// Whether the phone will ignore the push, which is stored, whatever its state is then.
    let willBeIgnored: Bool

    /// Creates a verdict.
    ///
    /// - Parameters:
    ///   - kind: The kind of the result.
    ///   - text: The result on one line.
    ///   - parts: The parts of the text.
    ///   - isOnScreen: Whether the phone shows the push now; by default whether the kind says so.
    ///   - expiration: The time at which a stored push expires, in milliseconds since 1970.
    ///   - replacedBy: The number of the push that replaced the push.
    ///   - isUncertain: Whether the simulator cannot know that the push has this result on a real phone.
    ///   - willBeIgnored: Whether the phone will ignore the push, which is stored.
    init(
        _ kind: Kind,
        text: String,
        parts: [Part] = [],
        isOnScreen: Bool? = nil,
        expiration: Int64? = nil,
        replacedBy: Int? = nil,
        isUncertain: Bool = false,
        willBeIgnored: Bool = false
    ) {
        self.kind = kind
        self.text = text
        self.parts = parts
        self.isOnScreen = isOnScreen ?? (kind == .shown)
        self.expiration = expiration
        self.replacedBy = replacedBy
        self.isUncertain = isUncertain
        self.willBeIgnored = willBeIgnored
    }

    /// Creates the verdict on a push that reached the phone, whose text consists of a beginning and the parts, and of a
    /// doubt that its content can be decoded.
    init(_ kind: Kind, _ beginning: String, _ parts: [Part], doubt: Part? = nil) {
        let all = parts + (doubt.map { [$0] } ?? [])
        let text = ([beginning] + all.map(\.description)).joined(separator: " · ")
        self.init(kind, text: text, parts: all, isUncertain: doubt != nil)
    }

    /// The result on one line.
    public var description: String { text }

    /// The verdict as a list of pushes has it.
    var summary: JSONValue {
        .members([
            "kind": .string(kind.rawValue), "text": .string(text), "times": times,
            "uncertain": isUncertain ? true : nil,
        ])
    }

    /// The verdict as the HTTP interface returns it.
    var json: JSONValue {
        .members([
            "kind": .string(kind.rawValue), "text": .string(text), "times": times,
            "parts": parts.isEmpty ? nil : .array(parts.map(\.json)), "until": expiration.map { .integer($0 / 1_000) },
            "replaced-by": replacedBy.map(JSONValue.integer), "uncertain": isUncertain ? true : nil,
            "on-screen": isOnScreen == (kind == .shown) ? nil : .bool(isOnScreen),
            "will-be-ignored": willBeIgnored ? true : nil,
        ])
    }

    /// The times in the text as JSON; nil for none.
    private var times: JSONValue? {
        let times = parts.compactMap(\.time)
        return times.isEmpty ? nil : .array(times.map(\.json))
    }
}

extension PushVerdict.Part {
    /// The part as the HTTP interface returns it.
    var json: JSONValue {
        .members([
            "text": .string(text), "cause": cause.map(JSONValue.string),
            "place": place.map { .string($0.description) },
        ])
    }
}
