// SPDX-License-Identifier: Apache-2.0

/// The order and timing of connection attempts to the addresses of a host: "Happy Eyeballs" (RFC 8305) without sorting,
/// which the system's resolver does.
///
/// Events go in and actions come out; the caller performs the actions, and owns the sockets and the timer.
struct DialPlan {
    /// The next action of the caller.
    enum Action: Equatable {
        /// Connect to the address at this index.
        case attempt(Int)
        /// Call ``delayPassed()`` after ``DialPlan/attemptDelay``, unless an attempt has succeeded or all have failed
        /// by then.
        case startTimer
        /// Every address has failed.
        case fail(String)
    }

    /// The time without a result after which the next address is tried in parallel (RFC 8305 §5).
    static let attemptDelay = Duration.milliseconds(250)

    private let addressCount: Int
    private var nextIndex = 0
    private var failures: [String] = []

    /// Creates a plan for this many addresses, at least one.
    init(addressCount: Int) {
        self.addressCount = addressCount
    }

    /// Starts the first attempt.
    mutating func start() -> [Action] {
        attemptNext()
    }

    /// Starts an attempt with the next address in parallel, because the last attempt has had no result yet.
    mutating func delayPassed() -> [Action] {
        attemptNext()
    }

    /// Records that an attempt has failed, and starts one with the next address immediately.
    mutating func attemptFailed(_ why: String) -> [Action] {
        failures.append(why)
        if failures.count == addressCount { return [.fail(failures.joined(separator: "; "))] }
        return attemptNext()
    }

    private mutating func attemptNext() -> [Action] {
        guard nextIndex < addressCount else { return [] }
        defer { nextIndex += 1 }
        return nextIndex + 1 < addressCount ? [.attempt(nextIndex), .startTimer] : [.attempt(nextIndex)]
    }
}
