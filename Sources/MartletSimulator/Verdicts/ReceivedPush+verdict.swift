// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The results of pushes, derived from their answers, delivery events and payloads.
extension ReceivedPush {
    /// The result of the push: what APNs answered, and what the phone made of it.
    ///
    /// It is computed at each access.
    public var verdict: PushVerdict { verdict(payload: nil) }

    /// Returns the result of the push, whose payload is parsed only if it is not passed and is needed.
    func verdict(payload parsed: JSONValue?) -> PushVerdict {
        guard status != 0 else { return unanswered(parsed) }
        guard status == 200 else { return refusal }
        return isBroadcast ? broadcastVerdict(parsed) : deliveryVerdict(parsed)
    }

    /// The kind of the result, which is cheaper to compute than the whole.
    var verdictKind: PushVerdict.Kind {
        guard status == 200 else { return status == 0 ? .unanswered : .refused }
        guard !isBroadcast else { return BroadcastTally(deliveries, isVisible: isVisible(at: time)).kind }
        let fate = deliveries.fate
        if let fate, !fate.kind.isDelivery { return fate.kind.verdictKind }
        return isVisible(at: fate?.time ?? time) ? .shown : .delivered
    }

    /// Whether a device shows the notification of the push, which is cheaper to determine than the verdict.
    var isNotificationOnScreen: Bool {
        guard !isBroadcast, !isLiveActivity, deliveries.fate?.kind.isDelivery ?? (status == 200) else { return false }
        return isVisible(at: time)
    }

    /// Returns whether a phone shows something for the push after a delivery at a time in milliseconds since 1970.
    private func isVisible(at time: Int64) -> Bool {
        let end = requestFacts.visibleUntil {
            guard isLiveActivity else { return NotificationPresentation.isVisible(headers, content) ? .max : .min }
            return ActivityPresentation.dismissal(content?["aps"] ?? .null) ?? .max
        }
        return time < end
    }

    /// Returns the result of a broadcast at one of its devices; nil when the broadcast was not delivered to the device.
    ///
    /// - Parameters:
    ///   - token: The token of the device in lower case.
    ///   - events: The last events of the broadcast at the device, because ``deliveries`` has only those of the first
    ///     devices; none when they are not known.
    /// - Returns: The result.
    func verdict(atDevice token: String, after events: [DeliveryEvent] = []) -> PushVerdict? {
        guard status == 200 || !deliveries.isEmpty else { return verdict }
        var push = self
        push.deliveries = events.isEmpty ? deliveries.filter { $0.device == token } : events
        return push.deliveries.isEmpty ? nil : push.deliveryVerdict(nil)
    }

    // MARK: Answers

    private var refusal: PushVerdict {
        let name = reason?.rawValue ?? "status \(status)"
        let finding = observations.first { $0.reason != nil && $0.reason == reason }
        let part = PushVerdict.Part(name, fault.map { "fault \($0)" }, at: finding?.place)
        return PushVerdict(.refused, text: "Refused: \(part)", parts: [part])
    }

    /// The cause for which an unanswered push has no answer: a fault that withheld it, or the client, which can also
    /// leave while a fault delays the answer.
    var lossCause: String {
        let departure = "the client left before it was sent"
        let cause = fault.map { "fault \($0)" }
        guard observations.contains(RefusalRules.answerNotAwaited) else { return cause ?? departure }
        return PushVerdict.Part(departure, cause).description
    }

    private func unanswered(_ parsed: JSONValue?) -> PushVerdict {
        let cause = "No answer: \(lossCause)"
        // APNs had accepted a push that has delivery events.
        guard !deliveries.isEmpty else { return PushVerdict(.unanswered, text: cause) }
        let fate = isBroadcast ? broadcastVerdict(parsed) : deliveryVerdict(parsed)
        return PushVerdict(
            .unanswered,
            text: "\(cause) · \(fate.text.prefix(1).lowercased())\(fate.text.dropFirst())",
            parts: fate.parts,
            isOnScreen: fate.isOnScreen,
            expiration: fate.expiration,
            replacedBy: fate.replacedBy,
            isUncertain: fate.isUncertain,
            willBeIgnored: fate.willBeIgnored
        )
    }

    // MARK: Pushes to one device

    private func deliveryVerdict(_ parsed: JSONValue?) -> PushVerdict {
        let released = deliveries.last { $0.kind == .released }.map { event in
            PushVerdict.Part("sent on to a real device", event.note)
        }
        let parts = [released].compactMap(\.self)
        // A push from an export may lack delivery events.
        guard let fate = deliveries.fate, !fate.kind.isDelivery else {
            return presentation(parsed, at: deliveries.fate, parts)
        }
        if let delivery = deliveries.last(where: \.kind.isDelivery) {
            return fate.verdict(of: self, after: presentation(parsed, at: delivery, parts))
        }
        let neglect = fate.kind == .storedDeviceOffline ? ignoredOnDelivery(parsed) : nil
        return fate.verdict(of: self, [neglect].compactMap(\.self) + parts, willBeIgnored: neglect != nil)
    }

    /// Returns the verdict on a push that the device accepted.
    private func presentation(_ parsed: JSONValue?, at event: DeliveryEvent?, _ more: [PushVerdict.Part]) -> PushVerdict
    {
        // A channel stores a broadcast also for the activities that subscribe later.
        let wasOffline = !isBroadcast || deliveries.contains { $0.kind == .storedDeviceOffline }
        let cause = wasOffline ? "the device came online" : "the activity subscribed to the channel"
        let beginning = event?.kind == .deliveredFromStorage ? "Delivered when \(cause)" : "Delivered"
        let payload = parsed ?? content
        if isLiveActivity {
            let activity = ActivityPresentation(aps: payload?["aps"] ?? .null, at: event?.time ?? time)
            let kind = activity.isVisible ? PushVerdict.Kind.shown : .delivered
            return PushVerdict(kind, beginning, activity.parts + more, doubt: decodingDoubt)
        }
        guard headers.isAlert, !headers.isForWalletPass else {
            let (isSilent, parts) = AccessoryPresentation.parts(headers, payload)
            let start = isSilent ? beginning + " silently" : beginning
            return PushVerdict(.delivered, start, parts + more, doubt: mdmDoubt)
        }
        guard let payload else {
            let part = PushVerdict.Part("content unknown", "the payload cannot be parsed", at: .payload(""))
            return PushVerdict(.delivered, beginning, [part] + more)
        }
        guard let aps = payload["aps"], aps.members != nil else {
            let cause = payload["aps"] == nil ? "aps is missing" : "aps is not an object"
            return PushVerdict(
                .delivered,
                beginning,
                [PushVerdict.Part("nothing to show", cause, at: .payload(""))] + more
            )
        }
        let notification = NotificationPresentation(aps: aps)
        guard !notification.isSilent else {
            return PushVerdict(.delivered, beginning + " silently", notification.parts.suffix(1) + more)
        }
        let isVisible = notification.appearance != .none
        return PushVerdict(isVisible ? .shown : .delivered, beginning, notification.parts + more)
    }
}

extension ReceivedPush {
    /// Returns the part of the verdict on a stored push that the device will ignore, whatever its state is then; nil
    /// for a push that it may accept.
    func ignoredOnDelivery(_ parsed: JSONValue?) -> PushVerdict.Part? {
        guard isLiveActivity else { return nil }
        do throws(ActivityPushError) {
            _ = try ActivityChange(DeliveredPush(self, parsed ?? content))
            return nil
        } catch {
            return PushVerdict.Part("the phone will ignore it", error.cause, at: .payload("/aps"))
        }
    }

    /// The part of the verdict on a push for a managed device whose sender Apple's APNs may refuse; nil for others.
    fileprivate var mdmDoubt: PushVerdict.Part? {
        guard observations.contains(RefusalRules.mdmWithToken) else { return nil }
        let cause = "a provider token in place of the MDM push certificate"
        return PushVerdict.Part("Apple may refuse it", cause, at: .header("authorization"))
    }

    /// The part of the verdict on content that the app may not decode; nil when nothing suggests that.
    var decodingDoubt: PushVerdict.Part? {
        let finding = observations.first { finding in ContentStateRules.forms.contains { $0.id == finding.rule } }
        return finding.map { finding in
            let cause = finding.message.split(separator: ": the phone drops", maxSplits: 1).first.map(String.init)
            return PushVerdict.Part("the app may not decode it", cause, at: finding.place)
        }
    }
}

extension [DeliveryEvent] {
    /// The last event that decides the result of a push to one device; nil for none.
    var fate: DeliveryEvent? { last { $0.kind != .released } }
}

extension DeliveryEvent.Kind {
    /// The kind of the verdict on a push with this as its last event; a delivered push counts as shown.
    var verdictKind: PushVerdict.Kind {
        switch self {
        case .delivered, .deliveredFromStorage, .released: .shown
        case .storedDeviceOffline: .stored
        case .discardedReplaced, .discardedExpired, .discardedNotStored: .discarded
        case .ignored: .notShown
        case .replacedOnDevice: .replaced
        case .activityEnded: .ended
        }
    }
}

extension DeliveryEvent {
    /// Returns the verdict on a push to one device with this as its last event, which never reached the device or was
    /// ignored by it.
    fileprivate func verdict(
        of push: ReceivedPush,
        _ more: [PushVerdict.Part],
        willBeIgnored: Bool
    ) -> PushVerdict {
        let (text, part) = summary(of: push)
        return PushVerdict(
            kind.verdictKind,
            text: ([text] + more.map(\.description)).joined(separator: " · "),
            parts: [part].compactMap(\.self) + more,
            expiration: kind == .storedDeviceOffline ? push.storageEnd : nil,
            replacedBy: replacedBy,
            willBeIgnored: willBeIgnored
        )
    }

    /// Returns the verdict on a push to one device with this as its last event, after the device had presented it.
    fileprivate func verdict(of push: ReceivedPush, after delivery: PushVerdict) -> PushVerdict {
        let (text, part) = summary(of: push)
        return PushVerdict(
            kind.verdictKind,
            text: "\(delivery.text) · \(text.prefix(1).lowercased())\(text.dropFirst())",
            parts: delivery.parts + [part].compactMap(\.self),
            replacedBy: replacedBy,
            isUncertain: delivery.isUncertain
        )
    }

    /// Returns the event in words, and the part of the push that is its cause.
    private func summary(of push: ReceivedPush) -> (String, PushVerdict.Part?) {
        let other = replacedBy.map { "push \($0)" } ?? "a push that is not stored"
        func part(_ text: String, _ cause: String? = nil, _ place: PushLint.Place) -> PushVerdict.Part {
            PushVerdict.Part(text, cause, at: place)
        }
        let expiration = PushLint.Place.header("apns-expiration")
        switch kind {
        case .delivered, .deliveredFromStorage, .released: return ("Delivered", nil)
        case .storedDeviceOffline:
            let end = VerdictTime(push.storageEnd, from: time)
            let cause = PushVerdict.Part("expires", end, push.storageLimit, at: expiration)
            return ("Stored: device is offline, \(cause)", cause)
        case .discardedReplaced: return ("Discarded: replaced by \(other) while the device was offline", nil)
        case .discardedExpired:
            let text = reason == nil ? "expired while the device was offline" : "expired before it arrived"
            return ("Discarded: " + text, part(text, reason, expiration))
        case .discardedNotStored:
            let (text, cause) = ("not stored", "apns-expiration is 0")
            return ("Discarded: device is offline and \(cause)", part(text, cause, expiration))
        case .replacedOnDevice where push.isLiveActivity:
            return ("Replaced by \(other) (newer content)", part("replaced", "newer content", .aps("timestamp")))
        case .replacedOnDevice:
            let cause = "same collapse identifier"
            return ("Replaced by \(other) (\(cause))", part("replaced", cause, .header("apns-collapse-id")))
        case .activityEnded: return ("Ended by \(other)", nil)
        case .ignored:
            return (
                "Not shown: \(ignoredSummary)",
                part(ignoredSummary, reason == ignoredSummary ? nil : reason, ignoredPlace)
            )
        }
    }

    private var ignoredSummary: String {
        switch brokenRule {
        case .activityTimestampOlder: "older than the content on screen"
        case .activityTimestampRepeated: "its timestamp is that of the content on screen"
        case .activityAfterEnd: "the activity has ended"
        case .activityDeviceToken: "this is a device's token, not an activity's"
        default: reason ?? "the device ignored it"
        }
    }

    private var ignoredPlace: PushLint.Place { brokenRule.map(ActivityRules.place) ?? .payload("/aps") }
}

extension ReceivedPush {
    /// The time at which APNs discards the push while it stores it, in milliseconds since 1970.
    fileprivate var storageEnd: Int64 {
        let expiration = headers.expiration.flatMap { Int64($0) }
        return DeliveredPush.storageEnd(expiration: expiration, arrival: time, isBroadcast: isBroadcast)
    }

    /// The longest time for which APNs stores the push, if that ends before the push expires; nil otherwise.
    fileprivate var storageLimit: String? {
        let expiration = headers.expiration.flatMap { Int64($0) }.map(Int64.init(millisecondsOf:)) ?? .max
        guard expiration > storageEnd else { return nil }
        return isBroadcast ? "8 hours at most" : "30 days at most"
    }
}
