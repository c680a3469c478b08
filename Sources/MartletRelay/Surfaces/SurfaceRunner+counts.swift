// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The numbers about the work of a runner.
extension SurfaceRunner {
    /// A kind of a surface of an app.
    struct Kind: Sendable, Hashable {
        var app: String
        var kind: SurfaceKind
    }

    /// The surfaces whose change has not reached all of their audience.
    struct Spreading: Sendable, Hashable {
        var count = 0
        /// The time of the oldest of these changes, in milliseconds since 1970.
        var since = Int64.max

        /// Counts a surface that changed at a time.
        mutating func add(_ changedAt: Int64) {
            count += 1
            since = min(since, changedAt)
        }
    }

    /// The numbers that the monitor reads, by the name of the app.
    struct Counts: Sendable {
        /// The number of surfaces that are not withdrawn, when they were read last; empty unless the relay leads.
        var surfaces: [String: Int] = [:]
        /// Those that are spreading, when they were read last.
        var spreading: [String: Spreading] = [:]
        /// The number of stored pages of audiences.
        var pages: [String: Int] = [:]
        /// The number of stored steps of surfaces on installations.
        var steps: [String: Int] = [:]
        /// The number of stored pushes.
        var pushes: [String: Int] = [:]
        /// The number of pushes that could not be built, of broadcasts that Apple has refused, and of steps that could
        /// not be decided.
        var problems: [String: Int] = [:]
        /// The broadcasts that Apple has refused; empty unless the relay leads.
        var refusedBroadcasts = RefusedBroadcasts()
        /// The time from a change of a surface until Apple accepted the update of a phone.
        var staleness: [Kind: Histogram] = [:]
        /// The same in the last minutes; empty unless the relay leads.
        var recent: [String: SurfaceStaleness] = [:]
    }
}
