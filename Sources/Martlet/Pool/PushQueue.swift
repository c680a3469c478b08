// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The pushes that wait: for a stream, in the order in which they are sent, or for a time.
///
/// A push that is settled meanwhile stays in its list until it is reached, so that cancelling needs no search.
struct PushQueue {
    /// The number of settled pushes in the list from which on they are removed, when they are half of it.
    private static let settledLimit = 1_000

    private var ready = Deque<PushKey>()
    /// The number of pushes in `ready` that are settled.
    private var settledCount = 0
    private var held = TimeHeap<PushKey>()
    /// The time at which the next push has waited long enough.
    private(set) var nextDue = MonotonicTime.never
    /// The number of pushes that wait for their timestamp before their first attempt.
    private(set) var delayedCount = 0

    /// The number of pushes that wait for a stream.
    var readyCount: Int { ready.count - settledCount }

    /// Whether no push waits for a stream; false also for settled pushes that have not been removed.
    var isEmpty: Bool { ready.isEmpty }

    mutating func append(_ push: PushKey) {
        ready.append(push)
    }

    /// Puts a push in front of all others.
    mutating func prepend(_ push: PushKey) {
        ready.prepend(push)
    }

    /// Holds a push until a time; `isDelayed` states whether it waits for its timestamp before its first attempt.
    mutating func hold(_ push: PushKey, until due: MonotonicTime, isDelayed: Bool) {
        held.insert(push, due: due)
        nextDue = min(nextDue, due)
        if isDelayed { delayedCount += 1 }
    }

    /// Removes and returns a push that has been held until now.
    mutating func removeDue(by now: MonotonicTime, in table: PushTable) -> PushKey? {
        defer { nextDue = held.earliest ?? .never }
        while let push = held.removeDue(by: now) {
            guard !table.isSettled(push) else { continue }
            if table[push].phase == .delayed { delayedCount -= 1 }
            return push
        }
        return nil
    }

    /// Returns the push that has to be sent next.
    mutating func first(in table: PushTable) -> PushKey? {
        while let push = ready.first {
            guard table.isSettled(push) else { return push }
            _ = ready.popFirst()
            settledCount -= 1
        }
        return nil
    }

    /// Removes and returns the push that has to be sent next.
    mutating func popFirst(in table: PushTable) -> PushKey? {
        let push = first(in: table)
        return push == nil ? nil : ready.popFirst()
    }

    /// Returns the pushes that wait for a stream.
    func waiting(in table: PushTable) -> [PushKey] {
        ready.all.filter { !table.isSettled($0) }
    }

    /// Records that a push was settled in this phase.
    mutating func settled(in phase: PushState.Phase, of table: PushTable) {
        switch phase {
        case .delayed:
            delayedCount -= 1
        case .waiting:
            settledCount += 1
            guard settledCount > PushQueue.settledLimit, settledCount > ready.count / 2 else { return }
            ready.removeAll(where: table.isSettled)
            settledCount = 0
        case .submitted, .awaitingToken, .onWire, .backingOff, .settled:
            break
        }
    }
}
