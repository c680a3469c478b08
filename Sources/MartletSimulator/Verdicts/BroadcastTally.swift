// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The results of a broadcast at its devices, counted by kind, without I/O.
struct BroadcastTally {
    /// The number of devices by the kind of the result.
    private(set) var counts: [PushVerdict.Kind: Int] = [:]
    /// The number of the push that replaced the broadcast or ended its activities at every device; nil when there is
    /// none, or more than one.
    private(set) var replacedBy: Int?

    /// Counts the last event of each device.
    init(_ deliveries: [DeliveryEvent], isVisible: Bool) {
        var last: [String: DeliveryEvent] = [:]
        for event in deliveries where event.kind != .released { last[event.device ?? ""] = event }
        for event in last.values {
            let kind = event.kind.isDelivery && !isVisible ? .delivered : event.kind.verdictKind
            counts[kind, default: 0] += 1
        }
        let others = Set(last.values.map(\.replacedBy))
        replacedBy = others.count == 1 ? others.first ?? nil : nil
    }

    /// The number of devices.
    var total: Int { counts.values.reduce(0, +) }

    /// The best result of all devices; `delivered` when the channel has no subscribers.
    var kind: PushVerdict.Kind { BroadcastTally.order.first { counts[$0] != nil } ?? .delivered }

    /// Whether a device has presented the broadcast, even if a newer push has taken its place.
    var isPresented: Bool {
        switch kind {
        case .shown, .delivered, .replaced, .ended: total > 0
        case .stored, .notShown, .discarded, .refused, .unanswered: false
        }
    }

    /// The results in words, such as `Shown on 3 of 5 activities · 1 stored · 1 not shown`.
    var text: String {
        guard total > 0 else { return "No subscribers" }
        let best = kind
        let rest = BroadcastTally.order.filter { $0 != best }.compactMap { kind in
            counts[kind].map { "\($0) \(BroadcastTally.word(for: kind))" }
        }
        let word = BroadcastTally.word(for: best)
        // There may be more devices, whose events are not stored.
        let all = total < DeviceRegistry.subscriberLimit ? "\(total)" : "the first \(total)"
        let count = "\(counts[best] ?? 0) of \(all) \(total == 1 ? "activity" : "activities")"
        let preposition = best == .stored ? "for" : "on"
        let cause = replacedBy.map { " by push \($0)" } ?? ""
        let beginning = "\(word.prefix(1).uppercased())\(word.dropFirst()) \(preposition) \(count)\(cause)"
        return ([beginning] + rest).joined(separator: " · ")
    }

    /// The kinds of results, best first.
    private static let order: [PushVerdict.Kind] = [
        .shown, .delivered, .replaced, .ended, .stored, .notShown, .discarded,
    ]

    private static func word(for kind: PushVerdict.Kind) -> String {
        kind == .notShown ? "not shown" : kind.rawValue
    }
}

extension ReceivedPush {
    /// Returns the verdict on a broadcast that APNs accepted, whose payload is parsed only if it is not passed.
    func broadcastVerdict(_ parsed: JSONValue?) -> PushVerdict {
        let aps = (parsed ?? content)?["aps"] ?? .null
        let activity = ActivityPresentation(aps: aps, at: time)
        let tally = BroadcastTally(deliveries, isVisible: activity.isVisible)
        let isPresented = tally.isPresented
        let doubt = isPresented ? decodingDoubt : nil
        let neglect = tally.kind == .stored ? ignoredOnDelivery(parsed) : nil
        let parts = (isPresented ? activity.parts : []) + [doubt, neglect].compactMap(\.self)
        return PushVerdict(
            tally.kind,
            text: ([tally.text] + parts.map(\.description)).joined(separator: " · "),
            parts: parts,
            replacedBy: tally.replacedBy,
            isUncertain: doubt != nil,
            willBeIgnored: neglect != nil
        )
    }
}
