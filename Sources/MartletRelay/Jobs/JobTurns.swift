// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The next step of an active job.
enum JobStep: Equatable {
    /// Stores the pushes of further installations.
    case expand
    /// Cancels the stored pushes.
    case cancelPushes
    /// Waits until stored pushes have ended.
    case wait

    /// The number of pushes of a job that have not ended from which on no further page is stored.
    static let unfinishedLimit = 10_000

    /// Decides about a job as it was read, by default with the limit for pushes that are all sent at one time.
    init(_ job: StoredJob, unfinishedLimit: Int = JobStep.unfinishedLimit) {
        switch job.state {
        case .expanding: self = job.unfinished < unfinishedLimit ? .expand : .wait
        case .cancelled: self = job.unfinished > 0 ? .cancelPushes : .wait
        case .expanded: self = .wait
        }
    }
}

/// The turns of active jobs: each has one step in turn, whatever its size.
struct JobTurns {
    /// The number of the job that had the last turn.
    private var last: Int64 = 0

    /// Returns jobs in the order of their turns: those behind the job that had the last turn come first.
    func order(_ jobs: [StoredJob]) -> [StoredJob] {
        let sorted = jobs.sorted { $0.number < $1.number }
        let start = sorted.firstIndex { $0.number > last } ?? 0
        return Array(sorted[start...] + sorted[..<start])
    }

    /// Records the turn of a job.
    mutating func record(_ job: StoredJob) {
        last = job.number
    }
}
