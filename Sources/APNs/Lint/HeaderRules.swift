/// The rules about headers ("Sending notification requests to APNs", table of request headers).
enum HeaderRules {
    /// Suffixes that no bundle identifier ends with by chance.
    private static let tellingSuffixes = [
        ".push-type.controls", ".push-type.liveactivity", ".push-type.widgets", ".pushkit.fileprovider",
        ".location-query", ".voip-ptt",
    ]
    /// The first second after the year 5138: a time beyond it is one in milliseconds.
    private static let farFuture: Int64 = 100_000_000_000

    static func pushType(_ text: String?) -> Lint.Finding? {
        let place = Lint.Place.header("apns-push-type")
        guard let text else {
            return Lint.Finding(
                "push-type-missing",
                .warning,
                place,
                "without a push type APNs may delay or drop the push, and watchOS does not take it"
            )
        }
        guard !PushType.all.contains(PushType(rawValue: text)) else { return nil }
        return Lint.Finding(
            "push-type-unknown",
            .error,
            place,
            "\"\(text)\" is no push type",
            reason: .invalidPushType
        )
    }

    static func id(_ text: String?) -> Lint.Finding? {
        guard let text, (try? APNsID(text)) == nil else { return nil }
        let place = Lint.Place.header("apns-id")
        return Lint.Finding("id-not-canonical", .error, place, "\(APNsIDError())", reason: .badMessageID)
    }

    static func priority(_ text: String?, of type: PushType?) -> Lint.Finding? {
        guard let text else {
            return type == .background
                ? Lint.Finding(
                    "background-priority-missing",
                    .warning,
                    .header("apns-priority"),
                    "a background push needs priority 5; without one APNs takes it for 10"
                ) : nil
        }
        guard let number = Int(text), String(number) == text else {
            return Lint.Finding(
                "priority-unknown",
                .error,
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
                "priority-unknown",
                .error,
                place,
                "the priority is 10, 5 or 1, not \(priority.rawValue)",
                reason: .badPriority
            )
        }
        guard type == .background, priority == .immediate else { return nil }
        // Apple calls it an error without naming the answer.
        return Lint.Finding(
            "background-priority-immediate",
            .error,
            place,
            "a background push has priority 5, never 10",
            reason: .badPriority
        )
    }

    static func expiration(_ text: String?) -> Lint.Finding? {
        guard let text else { return nil }
        guard let seconds = Int64(text) else {
            return Lint.Finding(
                "expiration-not-a-time",
                .error,
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
                "expiration-negative",
                .error,
                place,
                "the expiration is before 1970",
                reason: .badExpirationDate
            )
        }
        guard seconds > farFuture else { return nil }
        return Lint.Finding(
            "expiration-in-milliseconds",
            .warning,
            place,
            "the expiration is \(seconds) seconds after 1970, in the far future: was it meant in milliseconds?"
        )
    }

    static func topic(_ text: String?, of type: PushType?) -> Lint.Finding? {
        let place = Lint.Place.header("apns-topic")
        guard let text, !text.isEmpty else {
            return Lint.Finding(
                "topic-missing",
                .error,
                place,
                "the topic is missing: it is the app's bundle identifier",
                reason: .missingTopic
            )
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return Lint.Finding(
                "topic-malformed",
                .error,
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
                "topic-suffix-missing",
                .error,
                place,
                "pushes of type \(type.rawValue) need a topic that ends with \(suffix)",
                reason: .topicDisallowed
            )
        }
        guard suffix.isEmpty, let wrong = tellingSuffixes.first(where: text.hasSuffix) else { return nil }
        return Lint.Finding(
            "topic-suffix-wrong",
            .error,
            place,
            "a topic that ends with \(wrong) is not for pushes of type \(type.rawValue)",
            reason: .topicDisallowed
        )
    }

    static func collapseID(_ text: String?) -> Lint.Finding? {
        guard let text, text.utf8.count > PushLimits.collapseIDByteCount else { return nil }
        return Lint.Finding(
            "collapse-id-too-long",
            .error,
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
            "broadcast-app-with-suffix",
            .error,
            .header(":path"),
            "channels belong to the bundle identifier itself: leave \(suffix) out",
            reason: .topicDisallowed
        )
    }

    /// `apns-channel-id`.
    static func channel(_ id: String?) -> Lint.Finding? {
        let place = Lint.Place.header("apns-channel-id")
        guard let id, !id.isEmpty else {
            return Lint.Finding("channel-missing", .error, place, "the channel is missing", reason: .missingChannelID)
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
            "channel-malformed",
            .error,
            place,
            "a channel is the base64 text that APNs made up, unchanged",
            reason: .badChannelID
        )
    }
}
