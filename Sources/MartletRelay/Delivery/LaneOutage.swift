// SPDX-License-Identifier: Apache-2.0

/// An outage of a lane, during which it sends only single pushes as a test.
struct LaneOutage: Hashable {
    /// The time of the first failure, in milliseconds since 1970.
    var since: Int64
    /// The reason of the last failure: Apple's, a code of the client such as `ConnectionFailed`, `NoAnswer`, or the
    /// status of an answer without a reason.
    var reason: String
    /// The time of the last attempt that failed, in milliseconds since 1970.
    var lastTry: Int64
    /// The time of the next attempt, in milliseconds since 1970; in the past when it is under way or no push is due.
    var nextTry: Int64

    /// The pause of a lane whose device tokens Apple refuses, in milliseconds.
    ///
    /// Apple disconnects clients that cause many errors.
    static let badTokenPause: Int64 = 30_000

    /// The reason of a lane whose connections end before Apple answers: the code of the client's error, in the form of
    /// Apple's reasons.
    static let connectionLost = "ConnectionLost"

    init(since: Int64, after result: SendResult, at lastTry: Int64, nextTry: Int64) {
        self.since = since
        self.lastTry = lastTry
        self.nextTry = nextTry
        reason = if case .refused(let status, nil, _, _) = result { "Status \(status)" } else { result.reason }
    }

    /// Returns the longest pause after a failed attempt, in milliseconds, unless a longer one was asked for.
    ///
    /// Connecting at these intervals is cheap for Apple, so a lane that cannot reach Apple sends again within five
    /// seconds after Apple is back: this pause, and a quarter of it. Apple asks for longer waits after answers such as
    /// 500 and refused credentials ("Handling notification responses from APNs").
    static func longestPause(after result: SendResult) -> Int64 {
        switch result {
        case .neverSent, .unknown, .lost: 3_500
        case .accepted, .refused: 60_000
        }
    }
}

/// The reason why a lane delivers nothing, for people and metrics.
struct LaneProblem: Hashable {
    /// The time since which nothing was delivered, in milliseconds since 1970.
    var since: Int64
    /// The reason: that of the outage, or `NoAnswer` while Apple answers none of the pushes in flight.
    var reason: String
    /// The time of the next attempt, in milliseconds since 1970; nil once it is due, and while the lane still sends.
    var nextTry: Int64?
    /// The time of the last attempt that failed, in milliseconds since 1970; nil while the lane still sends.
    var lastTry: Int64?
}
