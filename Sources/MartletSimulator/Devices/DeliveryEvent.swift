// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An event in the delivery of a push that APNs accepted.
public struct DeliveryEvent: Sendable, Hashable {
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
        /// The push was sent on to a real device: see ``SimulatedAPNs/Release``, and ``DeliveryEvent/note`` for the
        /// answer.
        case released
    }

    /// The time of the event in seconds since 1970.
    package let time: Int64
    /// The time of the event, in whole seconds.
    public var date: Date { Date(secondsSince1970: time) }
    /// The kind of the event.
    public let kind: Kind
    /// The reason or the details; nil when the kind says everything.
    public private(set) var note: String?
    /// The rule that an ignored push breaks; nil when the push breaks a rule about single pushes, or none.
    private let brokenRule: PushLint.Rule?

    init(_ kind: Kind, at time: Int64, _ note: String? = nil) {
        self.time = time
        self.kind = kind
        self.note = note
        brokenRule = nil
    }

    /// Creates the event of a push that a Live Activity on the device ignores.
    init(ignoredAt time: Int64, _ rule: PushLint.Rule, _ note: String) {
        self.time = time
        kind = .ignored
        self.note = note
        brokenRule = rule
    }

    /// Returns the event with another note.
    func with(note: String) -> DeliveryEvent {
        var event = self
        event.note = note
        return event
    }

    /// The finding that the event adds to its push; nil for none.
    var finding: PushLint.Finding? {
        brokenRule.map { PushLint.Finding($0, ActivityRules.place(of: $0), "ignored: \(note ?? $0.summary)") }
    }
}
