// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The outcomes that arrive while pushes are being accepted.
///
/// A push may be sent, and its outcome be stored, before the relay resumes after the commit that accepted the push. The
/// waiter of the push is added only then, so earlier outcomes have to be checked again.
struct EarlyOutcomes {
    private var outcomes: [PushStatus] = []
    /// The position of the first outcome among all that were noted.
    private var first = 0
    /// The positions at which the unanswered acceptances began, in their order.
    private var starts: [Int] = []

    /// Starts to collect outcomes for an acceptance, and returns the position for ``endAcceptance(begunAt:)``.
    mutating func beginAcceptance() -> Int {
        let position = first + outcomes.count
        starts.append(position)
        return position
    }

    /// Stores an outcome while an acceptance is unanswered.
    mutating func record(_ push: PushStatus) {
        if !starts.isEmpty { outcomes.append(push) }
    }

    /// Ends an acceptance, and returns the outcomes that arrived since it began; drops those that no other needs.
    mutating func endAcceptance(begunAt position: Int) -> [PushStatus] {
        guard let index = starts.firstIndex(of: position) else { return [] }
        starts.remove(at: index)
        let missed = Array(outcomes.dropFirst(position - first))
        let needed = starts.first ?? first + outcomes.count
        outcomes.removeFirst(needed - first)
        first = needed
        return missed
    }
}
