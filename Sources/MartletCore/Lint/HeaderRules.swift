// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let pushTypeMissing = PushLint.Rule("push-type-missing", .warning, .sending).when(
        "apns-push-type is missing"
    )
    static let pushTypeUnknown = PushLint.Rule("push-type-unknown", .error, .sending)
        .when("apns-push-type is not one of Apple's types, which are in lower case")
    static let idNotCanonical = PushLint.Rule("id-not-canonical", .error, .sending).when("apns-id is not a UUID")
    static let idUpperCase = PushLint.Rule("id-upper-case", .warning, .sending).when("apns-id has upper-case digits")
    static let backgroundPriorityMissing = PushLint.Rule("background-priority-missing", .warning, .background)
        .when("a background push has no priority, so it has the default of 10")
    static let backgroundPriorityImmediate = PushLint.Rule("background-priority-immediate", .error, .background)
        .when("a background push has priority 10")
    static let priorityUnknown = PushLint.Rule("priority-unknown", .error, .sending).when(
        "apns-priority is not 10, 5 or 1"
    )
    static let expirationNotATime = PushLint.Rule("expiration-not-a-time", .error, .sending)
        .when("apns-expiration is not a whole number of seconds")
    static let expirationNegative = PushLint.Rule("expiration-negative", .error, .sending)
        .when("apns-expiration is before 1970")
    static let expirationInMilliseconds = PushLint.Rule("expiration-in-milliseconds", .warning, .sending)
        .when("apns-expiration is so far ahead that it is probably in milliseconds")
    static let expirationPast = PushLint.Rule("expiration-past", .warning, .sending)
        .when("apns-expiration has passed when the push arrives; 0 means one attempt")
    static let collapseIDTooLong = PushLint.Rule("collapse-id-too-long", .error, .sending)
        .when("apns-collapse-id has more than 64 bytes")
    static let collapseIDMalformed = PushLint.Rule("collapse-id-malformed", .error, .sending)
        .when("apns-collapse-id has a control character, or a space at either end")
    static let collapseIDNotUTF8 = PushLint.Rule("collapse-id-not-utf8", .warning, .sending)
        .when("apns-collapse-id is not UTF-8")
}

/// The rules about headers ("Sending notification requests to APNs", table of request headers).
enum HeaderRules {
    static let all: [PushLint.Rule] = [
        .pushTypeMissing, .pushTypeUnknown, .idNotCanonical, .idUpperCase, .backgroundPriorityMissing,
        .backgroundPriorityImmediate, .priorityUnknown, .expirationNotATime, .expirationNegative,
        .expirationInMilliseconds, .expirationPast, .topicMissing, .topicMalformed, .topicSuffixMissing,
        .topicSuffixWrong, .topicSuffixDoubled, .topicNotForMDM, .collapseIDTooLong, .collapseIDMalformed,
        .collapseIDNotUTF8,
        .broadcastAppMalformed, .broadcastAppWithSuffix, .channelMissing, .channelMalformed, .broadcastHeaderMissing,
        .broadcastTypeWrong,
    ]

    /// The checks of the headers of a push to a device, in the order of their findings.
    static let checks: [@Sendable (PushHeaders, PushFacts) -> PushLint.Finding?] = [
        { _, push in PushTypeRules.pushType(push) },
        { headers, _ in id(headers.id) },
        { headers, push in priority(headers.priority, of: push.type) },
        { headers, _ in expiration(headers.expiration) },
        { headers, push in pastExpiration(headers.expiration, at: push.time) },
        { headers, push in topic(headers.topic, of: push.type) },
        { headers, push in doubledSuffix(headers.topic, of: push.type) },
        { headers, push in ambiguousSuffix(headers.topic, of: push.type) },
        { headers, _ in collapseID(of: headers) },
    ]

    /// The first second after the year 5138; a later time is taken to be in milliseconds.
    static let farFuture: Int64 = 100_000_000_000

    /// Checks the push type; if it is missing, the finding names the type that topic and payload suggest.
    static func pushType(_ text: String?, likely: PushType? = nil) -> PushLint.Finding? {
        let place = PushLint.Place.header("apns-push-type")
        guard let text else {
            let message =
                "without a push type APNs may delay or drop the push, and watchOS does not accept it"
                + (likely.map { ": this one looks like \($0.rawValue)" } ?? "")
            return PushLint.Finding(.pushTypeMissing, place, message)
        }
        guard !PushType(rawValue: text).isKnown else { return nil }
        let message = "\(ShownValue.quoted(text)) is not a push type of Apple's"
        return PushLint.Finding(.pushTypeUnknown, place, message, reason: .invalidPushType)
    }

    static func id(_ text: String?) -> PushLint.Finding? {
        guard let text, (try? APNsID(text)) == nil else { return nil }
        let place = PushLint.Place.header("apns-id")
        guard (try? APNsID(text, allowsUpperCase: true)) != nil else {
            return PushLint.Finding(.idNotCanonical, place, "\(APNsIDError())", reason: .badMessageID)
        }
        let message =
            "apns-id has upper-case digits; Apple asks for lower-case ones, so compare without regard to case"
        return PushLint.Finding(.idUpperCase, place, message)
    }

    static func priority(_ text: String?, of type: PushType?) -> PushLint.Finding? {
        guard let text else {
            guard !allows(.immediate, of: type) else { return nil }
            let message = "a background push needs priority 5; without one it has the default of 10"
            return PushLint.Finding(.backgroundPriorityMissing, .header("apns-priority"), message)
        }
        guard let number = Int(text), String(number) == text else {
            let message = "the priority must be 10, 5 or 1 (found \(ShownValue.quoted(text)))"
            return PushLint.Finding(.priorityUnknown, .header("apns-priority"), message, reason: .badPriority)
        }
        return priority(PushNotification.Priority(rawValue: number), of: type)
    }

    static func priority(_ priority: PushNotification.Priority?, of type: PushType?) -> PushLint.Finding? {
        guard let priority else { return nil }
        let place = PushLint.Place.header("apns-priority")
        guard PushNotification.Priority.all.contains(priority) else {
            let message = "the priority must be 10, 5 or 1 (found \(priority.rawValue))"
            return PushLint.Finding(.priorityUnknown, place, message, reason: .badPriority)
        }
        guard !allows(priority, of: type) else { return nil }
        // Apple documents this as an error but does not name the answer.
        let message = "a background push must have priority 5, not 10"
        return PushLint.Finding(.backgroundPriorityImmediate, place, message, reason: .badPriority)
    }

    /// Whether pushes of a type may have a priority.
    private static func allows(_ priority: PushNotification.Priority, of type: PushType?) -> Bool {
        type?.allowedPriorities?.contains(priority) ?? true
    }

    static func expiration(_ text: String?) -> PushLint.Finding? {
        guard let text else { return nil }
        // `Int64` would accept a plus sign, and a minus sign before 0.
        let isAllDigits = !text.isEmpty && text.utf8.allSatisfy(\.isDigit)
        guard let seconds = Int64(text), seconds < 0 || isAllDigits else {
            let message =
                isAllDigits
                ? "the expiration must be at most \(PushNotification.Expiration.accepted.upperBound) seconds"
                    + " since 1970 (found \(ShownValue(text)))"
                : "the expiration must be a whole number of seconds since 1970, digits only (found"
                    + " \(ShownValue.quoted(text)))"
            return PushLint.Finding(
                .expirationNotATime,
                .header("apns-expiration"),
                message,
                reason: .badExpirationDate
            )
        }
        return expiration(PushNotification.Expiration(secondsSince1970: seconds))
    }

    static func expiration(_ expiration: PushNotification.Expiration?) -> PushLint.Finding? {
        guard let seconds = expiration?.secondsSince1970 else { return nil }
        let place = PushLint.Place.header("apns-expiration")
        guard PushNotification.Expiration.accepted.contains(seconds) else {
            let message = "apns-expiration must be 0 or more seconds after 1970 (found \(seconds))"
            return PushLint.Finding(.expirationNegative, place, message, reason: .badExpirationDate)
        }
        guard seconds > farFuture else { return nil }
        let message =
            "the expiration is \(seconds) seconds after 1970, probably a time in milliseconds: APNs stores the push for"
            + " 30 days at most"
        return PushLint.Finding(.expirationInMilliseconds, place, message)
    }

    /// Compares an expiration with the clock; returns nil without a clock, and for an expiration that APNs refuses.
    static func pastExpiration(_ text: String?, at time: Int64?) -> PushLint.Finding? {
        guard let time, expiration(text)?.reason == nil, let seconds = text.flatMap({ Int64($0) }), seconds > 0,
            seconds < time
        else { return nil }
        let message =
            "the expiration passed \(time - seconds) seconds ago: APNs does not store the push for an offline device,"
            + " and may drop it"
        return PushLint.Finding(.expirationPast, .header("apns-expiration"), message)
    }

    /// Checks an identifier, which only a literal can have made invalid.
    static func collapseID(_ identifier: CollapseID?) -> PushLint.Finding? {
        identifier.flatMap { collapseID(of: PushHeaders(collapseID: $0.rawValue)) }
    }

    static func collapseID(of headers: PushHeaders) -> PushLint.Finding? {
        guard let text = headers.collapseID else { return nil }
        let place = PushLint.Place.header("apns-collapse-id")
        let count = headers.collapseIDByteCount ?? text.utf8.count
        guard count <= PushLimits.collapseIDByteCount else {
            let text = "apns-collapse-id must have at most \(PushLimits.collapseIDByteCount) bytes (found \(count))"
            return PushLint.Finding(.collapseIDTooLong, place, text, reason: .badCollapseID)
        }
        guard text.isCollapseIDText else {
            let text = "apns-collapse-id must not contain control characters or have a space at either end"
            return PushLint.Finding(.collapseIDMalformed, place, text, reason: .badCollapseID)
        }
        guard headers.collapseIDByteCount != nil else { return nil }
        let note = "apns-collapse-id must be UTF-8: Apple does not document how APNs treats other bytes"
        return PushLint.Finding(.collapseIDNotUTF8, place, note)
    }
}
