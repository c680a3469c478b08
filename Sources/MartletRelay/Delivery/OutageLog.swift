// SPDX-License-Identifier: Apache-2.0

/// Decides which changes of a lane's state are logged.
struct OutageLog {
    enum Change: Equatable {
        /// Apple does not answer.
        case noAnswer(LaneProblem)
        /// Apple answers again.
        case answersAgain
        /// The lane does not send, except for single attempts.
        case down(LaneOutage)
        /// The lane sends again, after an outage since a time in milliseconds since 1970; nil if that is not known.
        case recovered(since: Int64?)
    }

    /// Whether the last logged state is that Apple does not answer.
    private(set) var isSilent = false
    /// The start of the outage if the last logged state is that the lane is down, in milliseconds since 1970; nil if it
    /// is not.
    private(set) var downSince: Int64?

    /// Compares the state of a lane with what was logged, and returns the changes to log.
    ///
    /// An outage begins and ends with an attempt.
    mutating func update(_ problem: LaneProblem?, _ outage: LaneOutage?, isAfterAttempt: Bool) -> [Change] {
        var changes: [Change] = []
        if isSilent, problem?.reason != SendResult.noAnswer {
            isSilent = false
            if problem == nil { changes.append(.answersAgain) }
        }
        if let problem, outage == nil, !isSilent {
            isSilent = true
            changes.append(.noAnswer(problem))
        }
        guard isAfterAttempt, (outage != nil) != (downSince != nil) else { return changes }
        changes.append(outage.map { .down($0) } ?? .recovered(since: downSince))
        downSince = outage?.since
        return changes
    }
}
