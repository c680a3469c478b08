// SPDX-License-Identifier: Apache-2.0

extension SimulatedAPNs {
    /// The result of waiting for pushes.
    public enum WaitResult: Sendable, Hashable {
        /// The pushes, oldest first.
        case found([ReceivedPush])
        /// The wait timed out before enough pushes came.
        case timedOut(Shortfall)

        /// The state of a wait when it timed out.
        public struct Shortfall: Sendable, Hashable {
            /// The matching pushes, oldest first.
            public let found: [ReceivedPush]
            /// The pushes that almost matched, closest first, at most five.
            public let nearMisses: [NearMiss]
            /// The number of the newest push at that time, from which the next wait can start.
            public let lastNumber: Int
        }

        /// A push that almost matched the query.
        public struct NearMiss: Sendable, Hashable {
            /// The push.
            public let push: ReceivedPush
            /// The terms of the query that the push does not match.
            public let misses: [String]
        }
    }
}
