// SPDX-License-Identifier: Apache-2.0

import MartletCore

@testable import MartletSimulator

extension ReceivedPush {
    /// Returns an accepted push with the values that a test needs.
    static func sample(
        _ number: Int = 1,
        at time: Int64 = 0,
        to deviceToken: String = "5d3a",
        app: String? = nil,
        channel: ChannelID? = nil,
        headers: PushHeaders = PushHeaders(topic: "app"),
        _ payload: String = "{}"
    ) -> ReceivedPush {
        ReceivedPush(
            number: number,
            time: time,
            arrival: time,
            connection: 1,
            deviceToken: channel == nil ? deviceToken : "",
            channel: channel,
            app: app,
            namespace: nil,
            headers: headers,
            payload: Array(payload.utf8),
            status: 200,
            reason: nil,
            id: "",
            fault: nil
        )
    }
}

extension DeliveredPush {
    /// Creates the parts of a push, whose payload is parsed.
    init(_ push: ReceivedPush) {
        self.init(push, push.content)
    }
}

extension DeviceRegistry {
    /// Receives a push, whose payload is parsed.
    mutating func receive(
        _ push: ReceivedPush,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        receive(DeliveredPush(push), at: now, using: &generator)
    }
}
