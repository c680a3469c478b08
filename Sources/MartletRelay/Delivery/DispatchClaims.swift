// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The claims of a relay.
struct DispatchClaims: Sendable {
    /// The number of claims so far, which is that of the last one.
    private(set) var count = 0
    /// The numbers of the claims under way.
    private(set) var open: Set<Int> = []
    /// The time of the last claim with a push that is of no surface; nil for none.
    private(set) var othersClaimedAt: ContinuousClock.Instant?

    /// Begins a claim, and returns its number.
    mutating func begin() -> Int {
        count += 1
        open.insert(count)
        return count
    }

    /// Records the pushes that a claim has returned.
    mutating func record(_ claim: Claim, at now: ContinuousClock.Instant) {
        if claim.pushes.contains(where: { $0.push.session == nil }) { othersClaimedAt = now }
    }

    /// Ends a claim.
    mutating func end(_ number: Int) {
        open.remove(number)
    }
}
