// SPDX-License-Identifier: Apache-2.0

/// The reloads of the configuration since the relay started.
struct ConfigurationReloads {
    /// The text instead of the error of a reload for a key that is not for all apps.
    static let hiddenError = "the log line `configuration rejected` has the reason"

    private(set) var succeeded = 0
    private(set) var failed = 0
    /// The rejection of the last reload; nil when it succeeded.
    private(set) var rejection: LastingProblem?
    /// The time at which the configuration in use was read, in milliseconds since 1970.
    private(set) var lastSuccess: Int64

    init(startedAt: Int64) {
        lastSuccess = startedAt
    }

    /// Records the result of a reload; nil for a success.
    mutating func record(_ error: String?, at now: Int64) {
        rejection = error.map { LastingProblem(after: rejection, $0, at: now) }
        guard error == nil else {
            failed += 1
            return
        }
        succeeded += 1
        lastSuccess = now
    }
}
