// SPDX-License-Identifier: Apache-2.0

/// Decides whether a lane or one of its pushes is at fault when Apple refuses credentials.
///
/// Every push of a lane is sent with the same key, so a bad key fails all of them. If Apple refuses the credentials of
/// one push and accepts those of others, the push is at fault. A lane is therefore at fault only when two pushes in a
/// row were refused.
struct CredentialRefusals {
    /// The cause of a refusal.
    enum Fault {
        case lane
        case push
        /// No other push was sent that could show it.
        case unknown
    }

    /// The number of pushes that are remembered, more than are usually refused at once.
    private static let limit = 1_000

    /// The push that was refused last; nil when Apple has accepted credentials since.
    private var lastRefused: Int64?
    /// Whether Apple has accepted the credentials of this lane before.
    private var wereAccepted = false
    private var counts: [Int64: Int] = [:]

    /// Records that Apple accepted the credentials of a push, whatever it answered otherwise.
    mutating func accepted() {
        lastRefused = nil
        wereAccepted = true
    }

    /// Records that Apple refused the credentials of a push, and returns what is at fault and the push's refusals.
    ///
    /// A trial is a push of a lane that was paused, sent to find out whether Apple accepts pushes.
    mutating func refused(_ number: Int64, isTrial: Bool) -> (fault: Fault, count: Int) {
        let last = lastRefused
        lastRefused = number
        if counts.count >= CredentialRefusals.limit, counts[number] == nil { counts = [:] }
        let count = counts[number, default: 0] + 1
        counts[number] = count
        if isTrial { return (.lane, count) }
        guard let last else { return (wereAccepted ? .push : .unknown, count) }
        return (last == number ? .unknown : .lane, count)
    }

    /// Forgets a push that has ended.
    mutating func forget(_ number: Int64) {
        counts[number] = nil
    }
}
