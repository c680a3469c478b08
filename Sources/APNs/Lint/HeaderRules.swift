extension Lint.Rule {
    static let pushTypeMissing = Lint.Rule(
        "push-type-missing",
        .warning,
        .sending,
        "apns-push-type is missing"
    )
    static let pushTypeUnknown = Lint.Rule(
        "push-type-unknown",
        .error,
        .sending,
        "apns-push-type is none of Apple's types, which are written in lower case"
    )
    static let idNotCanonical = Lint.Rule(
        "id-not-canonical",
        .error,
        .sending,
        "apns-id is no UUID in lower case"
    )
    static let backgroundPriorityMissing = Lint.Rule(
        "background-priority-missing",
        .warning,
        .background,
        "a background push has no priority, which APNs takes for 10"
    )
    static let backgroundPriorityImmediate = Lint.Rule(
        "background-priority-immediate",
        .error,
        .background,
        "a background push has priority 10"
    )
    static let priorityUnknown = Lint.Rule(
        "priority-unknown",
        .error,
        .sending,
        "apns-priority is none of 10, 5 and 1"
    )
    static let expirationNotATime = Lint.Rule(
        "expiration-not-a-time",
        .error,
        .sending,
        "apns-expiration is no whole number of seconds"
    )
    static let expirationNegative = Lint.Rule(
        "expiration-negative",
        .error,
        .sending,
        "apns-expiration is before 1970"
    )
    static let expirationInMilliseconds = Lint.Rule(
        "expiration-in-milliseconds",
        .warning,
        .sending,
        "apns-expiration is so far ahead that it must be in milliseconds"
    )
    static let expirationPast = Lint.Rule(
        "expiration-past",
        .warning,
        .sending,
        "apns-expiration has passed by the time the push arrives; 0 is what asks for one attempt"
    )
    static let topicMissing = Lint.Rule("topic-missing", .error, .sending, "apns-topic is missing")
    static let topicMalformed = Lint.Rule(
        "topic-malformed",
        .error,
        .sending,
        "apns-topic has characters that no topic has"
    )
    static let topicSuffixMissing = Lint.Rule(
        "topic-suffix-missing",
        .error,
        .sending,
        "apns-topic lacks the suffix of the push type"
    )
    static let topicSuffixWrong = Lint.Rule(
        "topic-suffix-wrong",
        .error,
        .sending,
        "apns-topic has the suffix of another push type"
    )
    static let topicSuffixDoubled = Lint.Rule(
        "topic-suffix-doubled",
        .warning,
        .sending,
        "apns-topic has a suffix after a suffix, as if it had been added twice"
    )
    static let collapseIDTooLong = Lint.Rule(
        "collapse-id-too-long",
        .error,
        .sending,
        "apns-collapse-id has more than 64 bytes"
    )
    static let broadcastAppWithSuffix = Lint.Rule(
        "broadcast-app-with-suffix",
        .error,
        .broadcast,
        "the app of a broadcast has a suffix"
    )
    static let channelMissing = Lint.Rule("channel-missing", .error, .broadcast, "apns-channel-id is missing")
    static let channelMalformed = Lint.Rule(
        "channel-malformed",
        .error,
        .broadcast,
        "apns-channel-id is not the base64 text that APNs made up"
    )
}

/// The rules about headers ("Sending notification requests to APNs", table of request headers).
enum HeaderRules {
    static let all: [Lint.Rule] = [
        .pushTypeMissing, .pushTypeUnknown, .idNotCanonical, .backgroundPriorityMissing, .backgroundPriorityImmediate,
        .priorityUnknown, .expirationNotATime, .expirationNegative, .expirationInMilliseconds, .expirationPast,
        .topicMissing, .topicMalformed, .topicSuffixMissing, .topicSuffixWrong, .topicSuffixDoubled,
        .collapseIDTooLong, .broadcastAppWithSuffix, .channelMissing, .channelMalformed,
    ]

    /// Suffixes that no bundle identifier ends with by chance.
    private static let tellingSuffixes = [
        ".push-type.controls", ".push-type.liveactivity", ".push-type.widgets", ".pushkit.fileprovider",
        ".location-query", ".voip-ptt",
    ]
    /// The first second after the year 5138: a time beyond it is one in milliseconds.
    static let farFuture: Int64 = 100_000_000_000

    /// Judges the push type, and names the one that topic and payload speak for when it is missing.
    static func pushType(_ text: String?, likely: PushType? = nil) -> Lint.Finding? {
        let place = Lint.Place.header("apns-push-type")
        guard let text else {
            return Lint.Finding(
                .pushTypeMissing,
                place,
                "without a push type APNs may delay or drop the push, and watchOS does not take it"
                    + (likely.map { ": this one looks like \($0.rawValue)" } ?? "")
            )
        }
        guard !PushType.all.contains(PushType(rawValue: text)) else { return nil }
        return Lint.Finding(
            .pushTypeUnknown,
            place,
            "\"\(text)\" is no push type",
            reason: .invalidPushType
        )
    }

    static func id(_ text: String?) -> Lint.Finding? {
        guard let text, (try? APNsID(text)) == nil else { return nil }
        let place = Lint.Place.header("apns-id")
        return Lint.Finding(.idNotCanonical, place, "\(APNsIDError())", reason: .badMessageID)
    }

    static func priority(_ text: String?, of type: PushType?) -> Lint.Finding? {
        guard let text else {
            return type == .background
                ? Lint.Finding(
                    .backgroundPriorityMissing,
                    .header("apns-priority"),
                    "a background push needs priority 5; without one APNs takes it for 10"
                ) : nil
        }
        guard let number = Int(text), String(number) == text else {
            return Lint.Finding(
                .priorityUnknown,
                .header("apns-priority"),
                "the priority is 10, 5 or 1, not \"\(text)\"",
                reason: .badPriority
            )
        }
        return priority(Priority(rawValue: number), of: type)
    }

    static func priority(_ priority: Priority?, of type: PushType?) -> Lint.Finding? {
        guard let priority else { return nil }
        let place = Lint.Place.header("apns-priority")
        guard Priority.all.contains(priority) else {
            return Lint.Finding(
                .priorityUnknown,
                place,
                "the priority is 10, 5 or 1, not \(priority.rawValue)",
                reason: .badPriority
            )
        }
        guard type == .background, priority == .immediate else { return nil }
        // Apple calls it an error without naming the answer.
        return Lint.Finding(
            .backgroundPriorityImmediate,
            place,
            "a background push has priority 5, never 10",
            reason: .badPriority
        )
    }

    static func expiration(_ text: String?) -> Lint.Finding? {
        guard let text else { return nil }
        guard let seconds = Int64(text) else {
            return Lint.Finding(
                .expirationNotATime,
                .header("apns-expiration"),
                "the expiration is a whole number of seconds since 1970, not \"\(text)\"",
                reason: .badExpirationDate
            )
        }
        return expiration(Expiration(secondsSince1970: seconds))
    }

    static func expiration(_ expiration: Expiration?) -> Lint.Finding? {
        guard let seconds = expiration?.secondsSince1970 else { return nil }
        let place = Lint.Place.header("apns-expiration")
        if seconds < 0 {
            return Lint.Finding(
                .expirationNegative,
                place,
                "the expiration is before 1970",
                reason: .badExpirationDate
            )
        }
        guard seconds > farFuture else { return nil }
        return Lint.Finding(
            .expirationInMilliseconds,
            place,
            "the expiration is \(seconds) seconds after 1970, in the far future, as if in milliseconds:"
                + " APNs keeps the push for as long as it likes"
        )
    }

    /// Judges an expiration by a clock; without one there is nothing to say.
    static func pastExpiration(_ text: String?, at time: Int64?) -> Lint.Finding? {
        guard let time, let seconds = text.flatMap({ Int64($0) }), seconds > 0, seconds < time else { return nil }
        return Lint.Finding(
            .expirationPast,
            .header("apns-expiration"),
            "the expiration passed \(time - seconds) seconds ago: APNs keeps nothing for a phone that is away, and may"
                + " drop the push"
        )
    }

    static func topic(_ text: String?, of type: PushType?) -> Lint.Finding? {
        let place = Lint.Place.header("apns-topic")
        guard let text, !text.isEmpty else {
            return Lint.Finding(
                .topicMissing,
                place,
                "the topic is missing: it is the app's bundle identifier",
                reason: .missingTopic
            )
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return Lint.Finding(
                .topicMalformed,
                place,
                "a topic has letters, digits, dots and hyphens only",
                reason: .badTopic
            )
        }
        guard let type, PushType.all.contains(type) else { return nil }
        let suffix = type.topicSuffix
        // Apple does not say what APNs answers when suffix and push type disagree.
        if !text.hasSuffix(suffix) {
            return Lint.Finding(
                .topicSuffixMissing,
                place,
                "pushes of type \(type.rawValue) need a topic that ends with \(suffix)",
                reason: .topicDisallowed
            )
        }
        guard suffix.isEmpty, let wrong = tellingSuffixes.first(where: text.hasSuffix) else { return nil }
        return Lint.Finding(
            .topicSuffixWrong,
            place,
            "a topic that ends with \(wrong) is not for pushes of type \(type.rawValue)",
            reason: .topicDisallowed
        )
    }

    /// A suffix before the suffix.
    static func doubledSuffix(_ text: String?, of type: PushType?) -> Lint.Finding? {
        guard let suffix = type?.topicSuffix, !suffix.isEmpty, let text, text.hasSuffix(suffix) else { return nil }
        let app = text.dropLast(suffix.count)
        guard let other = ([suffix] + tellingSuffixes).first(where: app.hasSuffix) else { return nil }
        return Lint.Finding(
            .topicSuffixDoubled,
            .header("apns-topic"),
            "the topic has \(other) before \(suffix): unless the bundle identifier ends so, APNs knows no app by it"
        )
    }

    static func collapseID(_ text: String?) -> Lint.Finding? {
        guard let text, text.utf8.count > PushLimits.collapseIDByteCount else { return nil }
        return Lint.Finding(
            .collapseIDTooLong,
            .header("apns-collapse-id"),
            "\(CollapseIDError(byteCount: text.utf8.count))",
            reason: .badCollapseID
        )
    }

    /// The app in the path of a broadcast or a request about channels.
    static func broadcastApp(_ app: String) -> Lint.Finding? {
        if let finding = topic(app, of: nil) { return finding }
        guard let suffix = tellingSuffixes.first(where: app.hasSuffix) else { return nil }
        return Lint.Finding(
            .broadcastAppWithSuffix,
            .header(":path"),
            "channels belong to the bundle identifier itself: leave \(suffix) out",
            reason: .topicDisallowed
        )
    }

    /// `apns-channel-id`.
    static func channel(_ id: String?) -> Lint.Finding? {
        let place = Lint.Place.header("apns-channel-id")
        guard let id, !id.isEmpty else {
            return Lint.Finding(.channelMissing, place, "the channel is missing", reason: .missingChannelID)
        }
        let isBase64 = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): true
            default: false
            }
        }
        guard !isBase64 || id.utf8.count > 256 else { return nil }
        return Lint.Finding(
            .channelMalformed,
            place,
            "a channel is the base64 text that APNs made up, unchanged",
            reason: .badChannelID
        )
    }
}
