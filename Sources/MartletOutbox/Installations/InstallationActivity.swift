// SPDX-License-Identifier: Apache-2.0

extension Installation {
    /// A Live Activity that an app has reported; its token is in ``tokens`` while it runs.
    package struct Activity: Sendable, Hashable {
        /// The origin of a Live Activity.
        package enum Starter: String, Sendable, Hashable, CaseIterable {
            case app
            case push
            /// A push that started it with a channel, so that it has no token.
            case channel
        }

        /// The end of a Live Activity.
        package struct End: Sendable, Hashable {
            /// The cause of an end.
            package enum Cause: String, Sendable, Hashable, CaseIterable {
                /// The user has removed it.
                case user
                /// The app, or a push, has ended it.
                case app
                /// The system has ended it, as it does after eight hours.
                case system
            }

            package var cause: Cause
            /// The phone's time in milliseconds since 1970.
            package var time: Int64

            /// Creates an end.
            package init(_ cause: Cause, at time: Int64) {
                self.cause = cause
                self.time = time
            }
        }

        /// The identifier of the surface that it shows.
        package var surface: String
        /// The phone's time of the start in milliseconds since 1970; nil if the app has not reported it.
        package var startedAt: Int64?
        /// The origin; nil if the app has not reported it.
        package var startedBy: Starter?
        /// The end; nil while it runs.
        package var end: End?

        /// Creates a running activity without a start.
        package init(of surface: String) {
            self.surface = surface
        }
    }

    /// The maximum number of ended activities, of which the newest are stored.
    package static let endedActivityLimit = 16

    /// The number of activities that run.
    var runningActivityCount: Int { activities.values.count { $0.end == nil } }

    /// The identifiers of the activities that have ended, oldest first.
    private var endedActivities: [String] {
        let ends = activities.compactMap { id, activity in activity.end.map { (time: $0.time, id: id) } }
        return ends.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.map(\.id)
    }

    /// Applies the changes of activities, and drops the oldest ended ones of too many.
    ///
    /// An activity that has ended loses its token.
    mutating func apply(_ changes: [String: ActivityChange?]) throws(InstallationChangeError) {
        for (id, change) in changes {
            guard let change else {
                activities[id] = nil
                continue
            }
            guard let surface = change.surface ?? activities[id]?.surface else { throw .noSurface(activity: id) }
            var activity = activities[id] ?? Activity(of: surface)
            activity.surface = surface
            if let time = change.startedAt { activity.startedAt = time }
            if let starter = change.startedBy { activity.startedBy = starter }
            if let end = change.end { activity.end = end }
            activities[id] = activity
        }
        for (id, activity) in activities where activity.end != nil { tokens[TokenSlot(.activity, id)] = nil }
        for id in endedActivities.dropLast(Self.endedActivityLimit) { activities[id] = nil }
    }

    /// Drops ended activities, the oldest first, until the installation has at most a number of bytes.
    mutating func dropEndedActivities(to limit: Int) {
        var rest = endedActivities[...]
        while byteCount > limit, let oldest = rest.popFirst() { activities[oldest] = nil }
    }
}

/// A change of a Live Activity: only what is not nil changes.
package struct ActivityChange: Sendable, Hashable {
    /// The surface, which a new activity must have.
    package var surface: String?
    /// The time of the start, or `.some(nil)` to remove it.
    package var startedAt: Int64??
    /// The origin, or `.some(nil)` to remove it.
    package var startedBy: Installation.Activity.Starter??
    /// The end, or `.some(nil)` to remove it.
    package var end: Installation.Activity.End??

    /// Creates a change of nothing.
    package init() {}
}
