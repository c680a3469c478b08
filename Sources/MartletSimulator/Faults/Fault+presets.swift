// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SimulatedAPNs.Fault {
    /// A named set of faults.
    public struct Preset: Sendable, Hashable {
        /// The name that selects the preset.
        public let name: String
        /// The description of the preset.
        public let summary: String
        /// The faults of the preset.
        public let faults: [SimulatedAPNs.Fault]
    }

    /// The presets: failures that every sender of pushes meets sooner or later.
    public static let presets: [Preset] = [
        Preset(
            name: "down",
            summary: "every connection is reset, as when Apple's servers are down",
            faults: [SimulatedAPNs.Fault(.resetConnection)]
        ),
        Preset(
            name: "unavailable",
            summary: "every fifth push gets 503 ServiceUnavailable with Retry-After: 1",
            faults: [SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 1), after: 4, every: 5)]
        ),
        Preset(
            name: "server-errors",
            summary: "every tenth push gets 500 InternalServerError",
            faults: [SimulatedAPNs.Fault(.respond(.internalServerError), after: 9, every: 10)]
        ),
        Preset(
            name: "too-many-requests",
            summary: "more than three pushes a second to one device get 429 TooManyRequests",
            faults: [SimulatedAPNs.Fault(.throttle(perDevice: 3))]
        ),
        Preset(
            name: "token-expired",
            summary: "a provider token expires: it gets 403 ExpiredProviderToken until the client sends a new one",
            faults: [SimulatedAPNs.Fault(.respond(.expiredProviderToken), count: 1)]
        ),
        Preset(
            name: "key-refused",
            summary: "every push gets 403 InvalidProviderToken, as when the signing key was revoked",
            faults: [SimulatedAPNs.Fault(.respond(.invalidProviderToken))]
        ),
        Preset(
            name: "drain",
            summary: "after every 1 000 pushes the connection of the last shuts down gracefully: two GOAWAY frames",
            faults: [SimulatedAPNs.Fault(.drain(debugData: #"{"reason":"Shutdown"}"#), after: 999, every: 1_000)]
        ),
        Preset(
            name: "too-many-errors",
            summary: "a connection ends with GOAWAY after ten refused requests; BadDeviceToken counts twice, 410 not",
            faults: [SimulatedAPNs.Fault(.limitErrors(10))]
        ),
        Preset(
            name: "flaky",
            summary: "1 % of pushes are refused unprocessed, 0.5 % lose their answer, 0.2 % end their connection",
            faults: [
                SimulatedAPNs.Fault(.resetStream(code: 7), probability: 0.01),
                SimulatedAPNs.Fault(.resetStream(code: 2), probability: 0.005),
                SimulatedAPNs.Fault(.goAway(includesRequest: false), probability: 0.002),
            ]
        ),
        Preset(
            name: "slow",
            summary: "every answer takes 0.2 to 2 seconds",
            faults: [SimulatedAPNs.Fault(.delay(.milliseconds(200), jitter: .milliseconds(1_800)))]
        ),
        Preset(
            name: "one-stream",
            summary: "each connection may have one stream open, from its first SETTINGS frame on",
            faults: [SimulatedAPNs.Fault(.limitStreams(1))]
        ),
    ]
}
