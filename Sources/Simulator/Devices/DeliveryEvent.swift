internal import APNs

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What became of a push after APNs had accepted it.
public struct DeliveryEvent: Sendable, Hashable {
    /// What happened, in the words of Apple's delivery log.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The device had it at once.
        case delivered
        /// The device was away, and it waits for it.
        case storedDeviceOffline = "stored-device-offline"
        /// The device had it when it came back.
        case deliveredFromStorage = "delivered-from-storage"
        /// A newer push for the same device and topic took its place.
        case discardedReplaced = "discarded-replaced"
        /// The push expired before it arrived or while the device was offline.
        case discardedExpired = "discarded-expired"
        /// The device was away, and it was to be tried only once.
        case discardedNotStored = "discarded-not-stored"
        /// The device had it, and did nothing with it: see ``DeliveryEvent/note``.
        case ignored
        /// It was sent on for real: see ``SimulatedAPNs/Release``, and ``DeliveryEvent/note`` for the answer.
        case released
    }

    /// The time of the event in seconds since 1970.
    package let time: Int64
    /// The time of the event, in whole seconds.
    public var date: Date { Date(secondsSince1970: time) }
    /// What happened.
    public let kind: Kind
    /// Why, where that is not plain from the kind.
    public private(set) var note: String?
    /// The rule that an ignored push breaks, where the device knows.
    private let brokenRule: ActivityRule?

    init(_ kind: Kind, at time: Int64, _ note: String? = nil) {
        self.time = time
        self.kind = kind
        self.note = note
        brokenRule = nil
    }

    /// A push that a Live Activity on the device ignores.
    init(ignoredAt time: Int64, _ rule: ActivityRule, _ note: String) {
        self.time = time
        kind = .ignored
        self.note = note
        brokenRule = rule
    }

    /// The event with another note.
    func with(note: String) -> DeliveryEvent {
        var event = self
        event.note = note
        return event
    }

    /// The finding that it adds to its push.
    var finding: Lint.Finding? {
        brokenRule.map { Lint.Finding($0.rule, $0.place, "ignored: \(note ?? $0.rule.summary)") }
    }
}
