// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An event in the delivery of a push that APNs accepted.
public struct DeliveryEvent: Sendable, Hashable, CustomStringConvertible {
    /// The kind of an event, in the terms of Apple's delivery log.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The push was delivered at once.
        case delivered
        /// The device was offline, and the push was stored for it.
        case storedDeviceOffline = "stored-device-offline"
        /// The push was stored, and was delivered when the device came online or subscribed to the channel.
        case deliveredFromStorage = "delivered-from-storage"
        /// A newer push for the same device and topic, or the same channel, replaced the push.
        case discardedReplaced = "discarded-replaced"
        /// The push expired before it arrived or while the device was offline.
        case discardedExpired = "discarded-expired"
        /// The device was offline, and the `apns-expiration` of 0 ruled out storing the push.
        case discardedNotStored = "discarded-not-stored"
        /// The push was delivered, and the device ignored it: see ``DeliveryEvent/note``.
        case ignored
        /// A newer push with the same collapse identifier, or newer content of the Live Activity, took the place of the
        /// push on the device: see ``DeliveryEvent/replacedBy``.
        case replacedOnDevice = "replaced-on-device"
        /// The Live Activity that showed the content of the push has ended: see ``DeliveryEvent/replacedBy`` for the
        /// push that ended it.
        case activityEnded = "activity-ended"
        /// The push was sent on to a real device: see ``SimulatedAPNs/Release``, and ``DeliveryEvent/note`` for the
        /// answer.
        case released

        /// Whether the push reached the device, which did not ignore it.
        var isDelivery: Bool { self == .delivered || self == .deliveredFromStorage }
    }

    /// The time of the event in milliseconds since 1970.
    package let time: Int64
    /// The time of the event, to the millisecond.
    public var date: Date { Date(millisecondsSince1970: time) }
    /// The kind of the event.
    public let kind: Kind
    /// The reason or the details; nil when the kind says everything.
    public private(set) var note: String?
    /// The number of the push that replaced the push, or ended its Live Activity; nil for other events.
    public private(set) var replacedBy: Int?
    /// The kind of the event, with its note in parentheses.
    public var description: String { kind.rawValue + (note.map { " (\($0))" } ?? "") }
    /// The token of the device, of a broadcast only.
    let device: String?
    /// The rule that the push breaks at the device; nil when the push breaks a rule about single pushes, or none.
    let brokenRule: PushLint.Rule?

    init(_ kind: Kind, at time: Int64, _ note: String? = nil) {
        self.init(kind, at: time, note: note, replacedBy: nil, device: nil, brokenRule: nil)
    }

    /// Creates the event of a push that a Live Activity on the device ignores.
    init(ignoredAt time: Int64, _ rule: PushLint.Rule, _ note: String) {
        self.init(.ignored, at: time, breaking: rule, note)
    }

    /// Creates the event of a push that breaks a rule at a Live Activity on the device.
    init(_ kind: Kind, at time: Int64, breaking rule: PushLint.Rule, _ note: String) {
        self.init(kind, at: time, note: note, replacedBy: nil, device: nil, brokenRule: rule)
    }

    /// Creates the event of a push whose place another push has taken.
    init(_ kind: Kind, by number: Int, at time: Int64) {
        let note = DeliveryEvent.notePrefix + String(number)
        self.init(kind, at: time, note: note, replacedBy: number, device: nil, brokenRule: nil)
    }

    private init(
        _ kind: Kind,
        at time: Int64,
        note: String?,
        replacedBy: Int?,
        device: String?,
        brokenRule: PushLint.Rule?
    ) {
        self.time = time
        self.kind = kind
        self.note = note
        self.replacedBy = replacedBy
        self.device = device
        self.brokenRule = brokenRule
    }

    /// Returns the event of a broadcast at a device, with a note that names the device.
    func at(device token: String) -> DeliveryEvent {
        let name = DeliveryEvent.name(ofDevice: token)
        return DeliveryEvent(
            kind,
            at: time,
            note: note.map { "\(name): \($0)" } ?? name,
            replacedBy: replacedBy,
            device: token,
            brokenRule: brokenRule
        )
    }

    /// Returns the event with the number that the other push has after an import; nil when that push was not imported.
    func replacing(_ number: Int?) -> DeliveryEvent {
        guard let replacedBy else { return self }
        let old = DeliveryEvent.notePrefix + String(replacedBy)
        let new = number.map { DeliveryEvent.notePrefix + String($0) } ?? "by a push that is not stored"
        var event = self
        event.replacedBy = number
        event.note = note.map { $0.hasSuffix(old) ? $0.dropLast(old.count) + new : $0 }
        return event
    }

    /// The beginning of the note of an event with ``replacedBy``.
    private static let notePrefix = "by push "

    /// Returns the name of a device in the note of a broadcast's event.
    private static func name(ofDevice token: String) -> String { "at \(token.prefix(8))…" }

    /// The finding that the event adds to its push; nil for none.
    var finding: PushLint.Finding? {
        brokenRule.map { rule in
            let text = note ?? rule.summary
            return PushLint.Finding(rule, ActivityRules.place(of: rule), kind == .ignored ? "ignored: \(text)" : text)
        }
    }

    /// The note without the name of the device; nil when it has nothing else.
    var reason: String? {
        guard let device, let note else { return note }
        let name = DeliveryEvent.name(ofDevice: device)
        guard note.hasPrefix(name) else { return note }
        let rest = note.dropFirst(name.count)
        return rest.isEmpty ? nil : String(rest.drop { $0 == ":" || $0 == " " })
    }
}

/// Delivery events as JSON.
extension DeliveryEvent {
    /// The event as the HTTP interface returns it, and as exports and the archive store it.
    var json: JSONValue {
        .object(of: [
            "time": JSONValue.integer(time / 1_000), "time-ms": JSONValue.integer(time), "kind": kind.rawValue,
            "note": note, "replaced-by": replacedBy, "device": device, "rule": brokenRule?.id,
        ])
    }

    /// Creates an event from JSON made by ``json``.
    init(_ record: APIField) throws(APIProblem) {
        self.init(
            try record["kind"].choice(of: Kind.self),
            at: try ReceivedPush.time(in: record),
            note: record["note"].value?.stringValue,
            replacedBy: record["replaced-by"].value?.integerValue.flatMap { Int(exactly: $0) },
            device: record["device"].value?.stringValue,
            brokenRule: (ActivityRules.all + ActivityContract.rules).first {
                $0.id == record["rule"].value?.stringValue
            }
        )
    }
}
