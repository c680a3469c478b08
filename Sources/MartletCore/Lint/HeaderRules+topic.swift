// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let topicMissing = PushLint.Rule("topic-missing", .error, .sending).when("apns-topic is missing")
    static let topicMalformed = PushLint.Rule("topic-malformed", .error, .sending)
        .when("apns-topic does not have the form of a bundle identifier")
    static let topicSuffixMissing = PushLint.Rule("topic-suffix-missing", .error, .sending)
        .when("apns-topic lacks the suffix of the push type")
    static let topicSuffixWrong = PushLint.Rule("topic-suffix-wrong", .error, .sending)
        .when("apns-topic has the suffix of another push type")
    static let topicSuffixDoubled = PushLint.Rule("topic-suffix-doubled", .warning, .sending)
        .when("apns-topic has a suffix after a suffix, as if it had been added twice")
    static let topicNotForMDM = PushLint.Rule("topic-not-for-mdm", .error, .mdm)
        .when("the topic of a push of type mdm is not that of an MDM push certificate")
}

/// The rules about `apns-topic`.
extension HeaderRules {
    /// The types with suffixes that a bundle identifier does not end with by chance.
    private static let distinctive = PushType.descriptors.filter { !$0.topicSuffix.isEmpty && !$0.isSuffixAmbiguous }
    private static let ambiguous = PushType.descriptors.filter(\.isSuffixAmbiguous)
    /// Suffixes that a bundle identifier does not end with by chance.
    static let distinctiveSuffixes = distinctive.map(\.topicSuffix)

    static func topic(_ text: String?, of type: PushType?) -> PushLint.Finding? {
        let place = PushLint.Place.header("apns-topic")
        guard let text, !text.isEmpty else {
            let message = "the topic is missing: it is the app's bundle identifier"
            return PushLint.Finding(.topicMissing, place, message, reason: .missingTopic)
        }
        guard isWellFormed(topic: text) else {
            let message =
                "a topic must be parts of letters, digits, hyphens and underscores, with one dot between two parts"
            return PushLint.Finding(.topicMalformed, place, message, reason: .badTopic)
        }
        guard let type, type.isKnown else { return nil }
        // The topic is the UID of the MDM push certificate's subject ("Sending MDM commands to a device").
        guard type != .mdm || text.hasPrefix(PushHeaders.mdmTopicPrefix) else {
            let message =
                "pushes of type mdm need the topic of the MDM push certificate, which begins with com.apple.mgmt."
            return PushLint.Finding(.topicNotForMDM, place, message, reason: .topicDisallowed)
        }
        let suffix = type.topicSuffix
        // Apple does not document the answer of APNs when suffix and push type disagree.
        if !text.hasSuffix(suffix) {
            let other = PushType.descriptors.first { !$0.topicSuffix.isEmpty && text.hasSuffix($0.topicSuffix) }
            let hint = other.map { "; \($0.topicSuffix) is for pushes of type \($0.type.rawValue)" } ?? ""
            let message = "pushes of type \(type.rawValue) need a topic that ends with \(suffix)\(hint)"
            return PushLint.Finding(.topicSuffixMissing, place, message, reason: .topicDisallowed)
        }
        guard suffix.isEmpty, let index = distinctiveSuffixes.firstIndex(where: text.hasSuffix) else { return nil }
        let wrong = distinctive[index]
        let message =
            "a topic that ends with \(wrong.topicSuffix) is for pushes of type \(wrong.type.rawValue), not"
            + " \(type.rawValue)"
        return PushLint.Finding(.topicSuffixWrong, place, message, reason: .topicDisallowed)
    }

    /// Checks the topic of an alert or a background push for a suffix that a bundle identifier may also end with; Apple
    /// does not document the answer of APNs.
    static func ambiguousSuffix(_ text: String?, of type: PushType?) -> PushLint.Finding? {
        guard let type, type == .alert || type == .background, let text,
            let other = ambiguous.first(where: { ends(text, with: $0.topicSuffix) }), isWellFormed(topic: text)
        else { return nil }
        let message =
            "a topic that ends with \(other.topicSuffix) is for pushes of type \(other.type.rawValue), not"
            + " \(type.rawValue): unless the bundle identifier ends so, the app does not get the push"
        return PushLint.Finding(.topicSuffixWrong, .header("apns-topic"), message)
    }

    /// Returns whether a text ends with the bytes of a suffix; `hasSuffix` would normalize the whole text first.
    private static func ends(_ text: String, with suffix: String) -> Bool {
        text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether a topic has the characters and the parts of a bundle identifier.
    ///
    /// Underscores are accepted, because Apple's pages do not document the answer of APNs to them.
    static func isWellFormed(topic: String) -> Bool {
        var isPartEmpty = true
        var hasLetterOrDigit = false
        for byte in topic.utf8 {
            switch byte {
            case UInt8(ascii: "."):
                guard !isPartEmpty else { return false }
                isPartEmpty = true
            case UInt8(ascii: "-"), UInt8(ascii: "_"):
                isPartEmpty = false
            case _ where byte.isDigit || byte.isLetter:
                isPartEmpty = false
                hasLetterOrDigit = true
            default:
                return false
            }
        }
        return hasLetterOrDigit && !isPartEmpty
    }

    /// Checks for a second suffix before the suffix.
    static func doubledSuffix(_ text: String?, of type: PushType?) -> PushLint.Finding? {
        guard let suffix = type?.topicSuffix, !suffix.isEmpty, let text, ends(text, with: suffix),
            isWellFormed(topic: text)
        else { return nil }
        let app = text.dropLast(suffix.count)
        guard let other = ([suffix] + distinctiveSuffixes).first(where: app.hasSuffix) else { return nil }
        let message =
            "the topic has \(other) before \(suffix): unless the bundle identifier ends so, there is no such app"
        return PushLint.Finding(.topicSuffixDoubled, .header("apns-topic"), message)
    }
}
