// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension StatusWatch {
    /// A problem that is over, or a pause that has ended.
    struct PastOutage: Sendable, Hashable {
        enum Kind: String, Sendable, Hashable {
            /// A lane was down, or pushes could not be stored.
            case outage
            case pause
            /// Apple accepted no push of a lane.
            case failing
            /// Pushes of a lane expired.
            case expiry
            /// The relay did not run.
            case stop
        }

        /// The lane that was down or paused; nil if the problem concerned all lanes.
        var lane: Lane?
        /// The reason of the problem; for a pause, the operator who paused the lane.
        var reason: String
        var kind = Kind.outage
        var isPause: Bool { kind == .pause }
        /// The times of the beginning and the end, in milliseconds since 1970.
        var start: Int64
        var end: Int64
        /// The pushes that were lost in that time.
        var losses = LossCounts()
        /// The number of pushes that were lost in that time and are counted for another problem.
        var lostElsewhere = 0
        /// The number of pushes that the relay refused because it could not store them.
        var notStored = 0
        /// Whether the problem lasted when the relay was stopped, and nothing has shown since that it is over.
        var isInterrupted = false

        /// Returns whether the problem is to be reported after its end: it had losses, or it was an outage that lasted
        /// for a time in milliseconds.
        func isNotable(after time: Int64) -> Bool {
            if losses.total + notStored > 0 { return true }
            return switch kind {
            case .pause, .expiry, .stop: false
            case .outage, .failing: end - start >= time
            }
        }
    }
}
