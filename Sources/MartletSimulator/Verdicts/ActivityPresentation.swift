// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The presentation of a push to a Live Activity that the device accepts ("Starting and updating Live Activities with
/// ActivityKit push notifications"), without I/O.
struct ActivityPresentation: Sendable, Hashable {
    /// The presentation in words.
    let parts: [PushVerdict.Part]
    /// Whether the activity is visible after the push.
    let isVisible: Bool

    /// The maximum number of milliseconds for which an ended activity stays on the Lock Screen: four hours.
    static let longestStay: Int64 = 4 * 60 * 60 * 1_000

    /// Creates the presentation of a push from the member `aps` of its payload, at its time of delivery in milliseconds
    /// since 1970.
    init(aps: JSONValue, at time: Int64) {
        let event = aps["event"]?.stringValue.flatMap(ActivityPush.Event.init(rawValue:))
        let change: String? =
            switch event {
            case .start: "Live Activity starts"
            case .update: "Live Activity updates"
            case .end: "Live Activity ends"
            case nil: nil
            }
        isVisible = ActivityPresentation.dismissal(aps).map { $0 > time } ?? true
        let stay = event == .end ? ActivityPresentation.stay(aps, at: time, isOver: !isVisible) : nil
        parts =
            [change.map { PushVerdict.Part($0, at: .aps("event")) }, stay].compactMap(\.self)
            + ActivityPresentation.alert(aps)
            + [ActivityPresentation.staleness(aps, at: time)].compactMap(\.self)
    }

    /// Returns the time at which a phone removes an activity that a push ends from the Lock Screen, in milliseconds
    /// since 1970.
    static func removalTime(_ aps: JSONValue, at time: Int64) -> Int64 {
        let latest = time + longestStay
        return aps["dismissal-date"]?.wholeValue.map { min(max(Int64(millisecondsOf: $0), time), latest) } ?? latest
    }

    /// Returns the time from which a phone removes the activity at once that a push ends, in milliseconds since 1970;
    /// nil for a push that ends none or has no such time.
    static func dismissal(_ aps: JSONValue) -> Int64? {
        guard aps["event"]?.stringValue == ActivityPush.Event.end.rawValue else { return nil }
        return aps["dismissal-date"]?.wholeValue.map(Int64.init(millisecondsOf:))
    }

    /// Returns the time for which an ended activity stays on the Lock Screen, in words.
    private static func stay(_ aps: JSONValue, at time: Int64, isOver: Bool) -> PushVerdict.Part {
        let place = PushLint.Place.aps("dismissal-date")
        guard !isOver else { return PushVerdict.Part("removed at once", "aps.dismissal-date has passed", at: place) }
        guard dismissal(aps) != nil else { return PushVerdict.Part("stays for up to 4 hours", at: place) }
        let end = removalTime(aps, at: time)
        return PushVerdict.Part("stays until", VerdictTime(end, from: time), at: place)
    }

    private static func alert(_ aps: JSONValue) -> [PushVerdict.Part] {
        guard let sound = sound(aps) else { return [] }
        return [PushVerdict.Part("alert", at: .aps("alert")), sound.part]
    }

    /// Returns the sound of the alert of a push from the member `aps` of its payload; nil for a push without an alert.
    static func sound(_ aps: JSONValue) -> SoundPresentation? {
        aps["alert"].map { SoundPresentation($0["sound"], at: "aps.alert.sound") }
    }

    private static func staleness(_ aps: JSONValue, at time: Int64) -> PushVerdict.Part? {
        guard let date = aps["stale-date"]?.wholeValue.map(Int64.init(millisecondsOf:)) else { return nil }
        guard date > time else { return PushVerdict.Part("outdated at once", at: .aps("stale-date")) }
        return PushVerdict.Part("outdated from", VerdictTime(date, from: time), at: .aps("stale-date"))
    }
}
