// SPDX-License-Identifier: Apache-2.0

/// The result of a claim.
package struct Claim: Sendable, Hashable {
    /// The pushes, longest waiting first.
    package var pushes: [ClaimedPush]
    /// The time when the next unclaimed push is due, in milliseconds since 1970; nil when there is none.
    ///
    /// It is in the past when the limit excluded due pushes.
    package var nextDue: Int64?

    package init(pushes: [ClaimedPush], nextDue: Int64?) {
        self.pushes = pushes
        self.nextDue = nextDue
    }
}
