// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let payloadCompressed = PushLint.Rule("payload-compressed", .warning, .sending)
        .when("a request has a content-encoding")
    static let activityChannelUnknown = PushLint.Rule("activity-channel-unknown", .error, .liveActivity)
        .when("input-push-channel names a channel that does not exist")
}

/// The rules about a single request that depend on more than the push: on other header fields, or on the channels.
enum RequestRules {
    static let all: [PushLint.Rule] = [.payloadCompressed, .activityChannelUnknown]

    /// Returns the finding about a `content-encoding` other than identity.
    static func compressed(_ encoding: String) -> PushLint.Finding {
        let message =
            "content-encoding is \"\(encoding.prefix(40))\", and APNs does not decompress payloads: it reads the"
            + " bytes as they are; send plain JSON without the header"
        return PushLint.Finding(.payloadCompressed, .header("content-encoding"), message)
    }
}

extension ChannelRegistry {
    /// Returns the finding about the start of a Live Activity on a channel that the app does not have.
    func finding(for push: ReceivedPush) -> PushLint.Finding? {
        guard push.isLiveActivity, push.app == nil, let app = push.bundleID,
            let aps = (try? JSONReader.readPayload(push.payload))?["aps"], aps["event"]?.stringValue == "start",
            let channel = aps["input-push-channel"]?.stringValue, storage(of: channel, in: app) == nil
        else { return nil }
        let message =
            "input-push-channel must name a channel of \(app) that exists in this environment: no broadcast reaches the"
            + " activity"
        return PushLint.Finding(.activityChannelUnknown, .payload("/aps/input-push-channel"), message)
    }
}
