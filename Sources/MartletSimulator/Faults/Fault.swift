// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension SimulatedAPNs {
    /// A failure that the simulator injects: the requests it affects, its frequency, and its action.
    public struct Fault: Sendable, Hashable {
        /// The conditions on a request that a fault may affect; a nil property matches all requests.
        public struct Match: Sendable, Hashable {
            /// The topic, as it is sent.
            public var topic: String?
            /// The push type, as it is sent.
            public var pushType: String?
            /// The priority, as it is sent.
            public var priority: String?
            /// The beginning of the device token, in hexadecimal digits of either case.
            public var devicePrefix: String?
            /// The end of the device token, in hexadecimal digits of either case.
            public var deviceSuffix: String?

            /// Creates a match from its conditions.
            public init(
                topic: String? = nil,
                pushType: String? = nil,
                priority: String? = nil,
                devicePrefix: String? = nil,
                deviceSuffix: String? = nil
            ) {
                self.topic = topic
                self.pushType = pushType
                self.priority = priority
                self.devicePrefix = devicePrefix
                self.deviceSuffix = deviceSuffix
            }
        }

        /// The action of a fault.
        public enum Action: Sendable, Hashable {
            /// Answers with this reason, whatever the request, and by default with the status that Apple documents for
            /// it.
            ///
            /// With `ExpiredProviderToken` the request's provider token counts as expired from then on, on every
            /// connection, until ``SimulatedAPNs/setFaults(_:seed:)``; the token that replaces it is accepted.
            case respond(APNsReason, status: Int? = nil, retryAfter: Int? = nil)
            /// Delays the answer by this duration and a random one of up to `jitter`, each limited to an hour.
            case delay(Duration, jitter: Duration = .zero)
            /// Sends no answer.
            case hang
            /// Resets the stream with this code (RFC 9113 §7); 7 is REFUSED_STREAM.
            case resetStream(code: UInt32)
            /// Sends a GOAWAY with this code and debug data, after which the connection accepts no more streams.
            ///
            /// The streams up to that of the request are still processed, or those before it if `includesRequest` is
            /// false.
            case goAway(code: UInt32 = 0, debugData: String = "", includesRequest: Bool = true)
            /// Shuts the connection down gracefully (RFC 9113 §6.8).
            ///
            /// The first GOAWAY has the highest possible stream identifier. The second has the last stream and this
            /// debug data, and is sent when the streams that were being opened have arrived. All of them are answered.
            case drain(debugData: String = "")
            /// Closes the connection in order, without an answer.
            case close
            /// Closes the connection with a TCP reset, without an answer.
            case resetConnection
            /// Closes this many of the next connections before their TLS handshake.
            case refuseConnections(Int)
            /// Limits the streams that may be open at once on a connection.
            ///
            /// A fault without conditions sets the limit in the first SETTINGS frame of each connection. A fault with a
            /// match, ``SimulatedAPNs/Fault/probability``, ``SimulatedAPNs/Fault/count``, ``SimulatedAPNs/Fault/after``
            /// or ``SimulatedAPNs/Fault/every`` sets it for the connection of each request that it affects. The limit
            /// ends with the connection, or when faults are removed.
            case limitStreams(UInt32)
            /// Limits the octets that a client may send on a stream of the connection before the server extends the
            /// window.
            case limitWindow(UInt32)
            /// Closes the connection with a GOAWAY after this many answers with a status from 400 to 499.
            ///
            /// An answer with `BadDeviceToken` counts twice, and one with 410 does not count. There is one GOAWAY,
            /// whose debug data is JSON with the reason of the answer that caused it. Apple says that too many errors
            /// end a connection, and does not say how many ("Handling notification responses from APNs").
            case limitErrors(Int)
            /// Answers 429 TooManyRequests to each request to a device after this many in the same second.
            case throttle(perDevice: Int)
            /// Sets the clock by which requests are checked ahead by this duration, or back if it is negative.
            case skewClock(Duration)
        }

        /// The conditions on the requests that the fault may affect.
        public var match: Match
        /// The probability that the fault affects a matching request that is due, from 0 to 1.
        public var probability: Double
        /// The maximum number of requests that the fault affects; nil for no limit.
        public var count: Int?
        /// The number of matching requests before the first that the fault may affect.
        public var after: Int
        /// The interval in matching requests; 1 by default.
        ///
        /// With 5, the fault may affect the first request after those of ``after``, and then every fifth.
        public var every: Int
        /// The action of the fault.
        public var action: Action

        /// Creates a fault, which affects every request by default.
        ///
        /// - Parameters:
        ///   - action: The action of the fault.
        ///   - match: The conditions on the requests that the fault may affect.
        ///   - probability: The probability that the fault affects a matching request that is due, from 0 to 1.
        ///   - count: The maximum number of requests that the fault affects; nil for no limit.
        ///   - after: The number of matching requests before the first that the fault may affect.
        ///   - every: The interval in matching requests, 1 at least: with 5 and an `after` of 4, the fault may affect
        ///     the fifth, the tenth and so on.
        public init(
            _ action: Action,
            with match: Match = Match(),
            probability: Double = 1,
            count: Int? = nil,
            after: Int = 0,
            every: Int = 1
        ) {
            self.action = action
            self.match = match
            self.probability = probability
            self.count = count
            self.after = after
            self.every = max(1, every)
        }
    }
}
