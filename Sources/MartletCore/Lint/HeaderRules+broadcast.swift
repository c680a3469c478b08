// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let broadcastAppMalformed = PushLint.Rule("broadcast-app-malformed", .error, .broadcast)
        .when("the app of a broadcast does not have the form of a bundle identifier")
    static let broadcastAppWithSuffix = PushLint.Rule("broadcast-app-with-suffix", .error, .broadcast)
        .when("the app of a broadcast has a suffix")
    static let channelMissing = PushLint.Rule("channel-missing", .error, .broadcast).when("apns-channel-id is missing")
    static let channelMalformed = PushLint.Rule("channel-malformed", .error, .broadcast)
        .when("apns-channel-id is not base64 text as APNs returns it")
    static let broadcastHeaderMissing = PushLint.Rule("broadcast-header-missing", .error, .broadcast)
        .when("a broadcast lacks apns-push-type, apns-expiration or apns-priority")
    static let broadcastTypeWrong = PushLint.Rule("broadcast-type-wrong", .error, .broadcast)
        .when("the push type of a broadcast is not liveactivity")
}

/// The rules about the path and the headers of a broadcast ("Sending broadcast push notification requests to APNs").
extension HeaderRules {
    /// Checks the app in the path of a broadcast or of a request about channels.
    static func broadcastApp(_ app: String) -> PushLint.Finding? {
        guard isWellFormed(topic: app) else {
            // APNs answers `BadTopic` and `MissingTopic` only to pushes to devices.
            let message =
                "the path must name the app by its bundle identifier: parts of letters, digits, hyphens and"
                + " underscores, with one dot between two parts"
            return PushLint.Finding(.broadcastAppMalformed, .header(":path"), message, reason: .badPath)
        }
        guard let suffix = distinctiveSuffixes.first(where: app.hasSuffix) else { return nil }
        let message = "channels belong to the bundle identifier itself: leave \(suffix) out"
        return PushLint.Finding(.broadcastAppWithSuffix, .header(":path"), message, reason: .topicDisallowed)
    }

    /// Checks `apns-channel-id`.
    static func channel(_ id: String?) -> PushLint.Finding? {
        let place = PushLint.Place.header("apns-channel-id")
        guard let id, !id.isEmpty else {
            return PushLint.Finding(.channelMissing, place, "the channel is missing", reason: .missingChannelID)
        }
        guard !id.isBase64 || id.utf8.count > 256 else { return nil }
        let message = "a channel identifier is the base64 text that APNs returned, unchanged"
        return PushLint.Finding(.channelMalformed, place, message, reason: .badChannelID)
    }

    /// Checks `apns-push-type` ignoring case, because Apple's pages spell it in three ways.
    static func broadcastType(_ type: String?) -> PushLint.Finding? {
        guard let type else { return missing("apns-push-type", "liveactivity", .missingPushType) }
        guard type.lowercased() != PushType.liveActivity.rawValue else { return nil }
        let message = "the push type of a broadcast must be liveactivity (found \(ShownValue.quoted(type)))"
        return PushLint.Finding(.broadcastTypeWrong, .header("apns-push-type"), message, reason: .invalidPushType)
    }

    /// Checks `apns-expiration`, which is optional for a push to a device and required for a broadcast.
    static func broadcastExpiration(_ text: String?) -> PushLint.Finding? {
        guard let text else { return missing("apns-expiration", "0 for a channel without storage", .badExpirationDate) }
        return expiration(text)
    }

    /// Checks `apns-priority`, which is optional for a push to a device and required for a broadcast.
    static func broadcastPriority(_ text: String?) -> PushLint.Finding? {
        guard let text else { return missing("apns-priority", "10, 5 or 1", .badPriority) }
        return priority(text, of: .liveActivity)
    }

    private static func missing(_ name: String, _ value: String, _ reason: APNsReason) -> PushLint.Finding {
        let message = "a broadcast must have \(name): \(value)"
        return PushLint.Finding(.broadcastHeaderMissing, .header(name), message, reason: reason)
    }
}
