// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension Fault {
    /// A named set of faults.
    public struct Preset: Sendable, Hashable {
        /// The name that selects the preset.
        public let name: String
        /// The description of the preset.
        public let summary: String
        /// The faults of the preset.
        public let faults: [Fault]
    }

    /// The presets: failures that every sender of pushes meets sooner or later.
    public static let presets: [Preset] = [
        Preset(
            name: "down",
            summary: "every connection is reset, as when Apple's servers are down",
            faults: [Fault(.resetConnection)]
        ),
        Preset(
            name: "unavailable",
            summary: "every fifth push gets 503 ServiceUnavailable with Retry-After: 1",
            faults: [Fault(.respond(.serviceUnavailable, retryAfter: 1), after: 4, every: 5)]
        ),
        Preset(
            name: "server-errors",
            summary: "every tenth push gets 500 InternalServerError",
            faults: [Fault(.respond(.internalServerError), after: 9, every: 10)]
        ),
        Preset(
            name: "too-many-requests",
            summary: "more than three pushes a second to one device get 429 TooManyRequests",
            faults: [Fault(.throttle(perDevice: 3))]
        ),
        Preset(
            name: "token-expired",
            summary: "a provider token expires: it gets 403 ExpiredProviderToken until the client sends a new one",
            faults: [Fault(.respond(.expiredProviderToken), count: 1)]
        ),
        Preset(
            name: "drain",
            summary: "after every 1 000 pushes the connection of the last shuts down gracefully: two GOAWAY frames",
            faults: [Fault(.drain(debugData: #"{"reason":"Shutdown"}"#), after: 999, every: 1_000)]
        ),
        Preset(
            name: "too-many-errors",
            summary: "a connection ends with GOAWAY after ten refused requests; BadDeviceToken counts twice, 410 not",
            faults: [Fault(.limitErrors(10))]
        ),
        Preset(
            name: "flaky",
            summary: "1 % of pushes are refused unprocessed, 0.5 % lose their answer, 0.2 % end their connection",
            faults: [
                Fault(.resetStream(code: 7), probability: 0.01), Fault(.resetStream(code: 2), probability: 0.005),
                Fault(.goAway(includesRequest: false), probability: 0.002),
            ]
        ),
        Preset(
            name: "slow",
            summary: "every answer takes 0.2 to 2 seconds",
            faults: [Fault(.delay(.milliseconds(200), jitter: .milliseconds(1_800)))]
        ),
        Preset(
            name: "one-stream",
            summary: "each connection may have one stream open, from its first SETTINGS frame on",
            faults: [Fault(.limitStreams(1))]
        ),
    ]
}
