/// Decides in which order and when the addresses of a host are tried: "happy eyeballs" (RFC 8305) without the
/// sorting, which the system's resolver has done.
///
/// Facts go in, orders come out; whoever carries them out owns the sockets and the timer.
struct DialPlan {
    /// What to do next.
    enum Order: Equatable {
        /// Connect to the address at this index.
        case attempt(Int)
        /// Call ``delayPassed()`` after ``DialPlan/attemptDelay``, unless the dialing is over by then.
        case startTimer
        /// Every address has failed.
        case fail(String)
    }

    /// How long an address may stay silent before the next is tried beside it (RFC 8305 §5).
    static let attemptDelay = Duration.milliseconds(250)

    private let addressCount: Int
    private var nextIndex = 0
    private var failures: [String] = []

    /// A plan for this many addresses, at least one.
    init(addressCount: Int) {
        self.addressCount = addressCount
    }

    /// The addresses are there: begin.
    mutating func start() -> [Order] {
        attemptNext()
    }

    /// The last attempt has been silent for a while: try the next address beside it.
    mutating func delayPassed() -> [Order] {
        attemptNext()
    }

    /// An attempt has failed: try the next address at once.
    mutating func attemptFailed(_ why: String) -> [Order] {
        failures.append(why)
        if failures.count == addressCount { return [.fail(failures.joined(separator: "; "))] }
        return attemptNext()
    }

    private mutating func attemptNext() -> [Order] {
        guard nextIndex < addressCount else { return [] }
        defer { nextIndex += 1 }
        return nextIndex + 1 < addressCount ? [.attempt(nextIndex), .startTimer] : [.attempt(nextIndex)]
    }
}
