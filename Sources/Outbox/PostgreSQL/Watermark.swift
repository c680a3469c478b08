/// How far one urgency of a lane has been given out, and where to look for more: what has gone leaves traces in the
/// database, which a claim does not want to meet each time.
struct Watermark {
    /// How far to look back now and then, in milliseconds: commits come in another order than their times, and clocks
    /// differ.
    static let lookBack: Int64 = 2_000
    /// How often.
    private static let interval = Duration.milliseconds(250)

    /// What was due by then has been given out, but for what has come late.
    private var frontier = Int64.min
    private var nextLookBack = ContinuousClock.now
    /// When something is due that this node has put there, and that may lie behind the frontier.
    private var earliestOwn = Int64.max

    /// From which time on the next claim looks.
    mutating func startOfClaim(at clock: ContinuousClock.Instant) -> Int64 {
        defer { earliestOwn = .max }
        return min(startOfLook(at: clock), earliestOwn)
    }

    /// From which time on it is looked whether something has come.
    mutating func startOfLook(at clock: ContinuousClock.Instant) -> Int64 {
        guard clock >= nextLookBack else { return frontier }
        nextLookBack = clock + Watermark.interval
        return frontier < .min + Watermark.lookBack ? .min : frontier - Watermark.lookBack
    }

    /// This node has put something there that is due at a time.
    mutating func notePush(due time: Int64) { earliestOwn = min(earliestOwn, time) }

    /// Everything that is due by a time has been given out.
    mutating func advance(to time: Int64) { frontier = max(frontier, time) }

    /// Something may have come late: the next claim looks back.
    mutating func expectStragglers() { nextLookBack = .now }

    /// Something has come very late: the next claim looks at everything.
    mutating func startOver() { self = Watermark() }
}
