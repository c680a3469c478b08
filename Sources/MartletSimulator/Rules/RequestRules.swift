// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let payloadCompressed = PushLint.Rule("payload-compressed", .warning, .sending)
        .when("a request has a content-encoding")
    static let deviceTokenShort = PushLint.Rule("device-token-short", .warning, .sending)
        .when("a device token has 40 to 62 digits: part of it may be missing")
    static let activityChannelUnknown = PushLint.Rule("activity-channel-unknown", .error, .liveActivity)
        .when("input-push-channel names a channel that does not exist")
}

/// The rules about a single request that depend on more than the push: on other header fields, or on the channels.
enum RequestRules {
    static let all: [PushLint.Rule] = [.payloadCompressed, .deviceTokenShort, .activityChannelUnknown]

    /// Returns the finding about a `content-encoding` other than identity.
    static func compressed(_ encoding: String) -> PushLint.Finding {
        let message =
            "content-encoding is \(ShownValue.quoted(encoding)), and APNs does not decompress payloads: it reads the"
            + " bytes as they are; send plain JSON without the header"
        return PushLint.Finding(.payloadCompressed, .header("content-encoding"), message)
    }

    /// The numbers of digits of a token that was probably cut: tokens of devices have 64 digits or more at present, and
    /// a much shorter token was invented for a test.
    private static let cutTokenLengths = 40..<64

    /// Returns the finding about a device token that was probably cut; nil for another one.
    static func shortToken(_ token: String) -> PushLint.Finding? {
        let count = token.utf8.count
        guard cutTokenLengths.contains(count) else { return nil }
        let message =
            "the device token has \(count) hexadecimal digits, and tokens of devices have 64 or more at present: if"
            + " part of it is missing, APNs answers BadDeviceToken"
        return PushLint.Finding(.deviceTokenShort, .header(":path"), message)
    }
}

extension ChannelRegistry {
    /// Returns the finding about the start of a Live Activity on a channel that the app does not have.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - content: Its payload as JSON; nil when it cannot be parsed.
    /// - Returns: The finding; nil for none.
    func finding(for push: ReceivedPush, _ content: JSONValue?) -> PushLint.Finding? {
        guard push.isLiveActivity, push.app == nil, let app = push.bundleID,
            let aps = content?["aps"], aps["event"]?.stringValue == "start",
            let channel = aps["input-push-channel"]?.stringValue, storage(of: channel, in: app) == nil
        else { return nil }
        let message =
            "input-push-channel must name a channel of \(app) that exists in this environment: no broadcast reaches the"
            + " activity"
        return PushLint.Finding(.activityChannelUnknown, .payload("/aps/input-push-channel"), message)
    }
}
