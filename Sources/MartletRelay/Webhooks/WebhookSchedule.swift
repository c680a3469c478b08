// SPDX-License-Identifier: Apache-2.0

/// The schedule of a webhook's calls.
struct WebhookSchedule {
    private static let backoff = Backoff(first: 5_000, longest: 3_600_000)

    private var failures = 0
    private var nextTime = Int64.min
    private var isUnderWay = false

    /// Returns whether to call the webhook now, and marks the call as under way.
    mutating func mayCall(at now: Int64) -> Bool {
        // A clock that was set back must not delay the next call for longer.
        guard !isUnderWay, now >= nextTime || now < nextTime - WebhookSchedule.backoff.longest else { return false }
        isUnderWay = true
        return true
    }

    /// Records the end of a call, or that there was nothing to report.
    mutating func ended(succeeded: Bool, at now: Int64) {
        isUnderWay = false
        nextTime = succeeded ? now : now + WebhookSchedule.backoff.wait(after: failures)
        failures = succeeded ? 0 : failures + 1
    }
}
