// SPDX-License-Identifier: Apache-2.0

/// The changes of Live Activities.
///
/// An activity that has ended stays a member until the relay has confirmed its end. While no user is signed in, an end
/// concerns no installation.
extension InstallationState {
    /// The maximum number of ended activities, of which the newest are reported; a relay stores as many.
    private static let endedLimit = 16

    /// Records an activity that runs, and takes back an end.
    ///
    /// The system may list an activity only some time after a launch, and it counts as ended until then.
    mutating func reportActivity(_ id: String, of surface: String, startedAt time: Int64, by starter: ActivityStarter) {
        let path = MemberPath.activity(id)
        guard var activity = members[path]?.activity else {
            set(.activity(ReportedActivity(surface: surface, startedAt: time, startedBy: starter)), at: path)
            return
        }
        // The identifier stands for a surface that is not known.
        if surface != id { activity.surface = surface }
        activity.end = nil
        activity.startedAt = min(activity.startedAt ?? time, time)
        if starter != .push { activity.startedBy = starter }
        set(.activity(activity), at: path)
    }

    /// Records the token of an activity that runs.
    mutating func setToken(_ token: String, ofActivity id: String) {
        let path = MemberPath.activity(id)
        guard var activity = members[path]?.activity, activity.end == nil else { return }
        activity.token = token
        set(.activity(activity), at: path)
        markIssued(path)
    }

    /// Records the end of an activity that runs.
    mutating func endActivity(_ id: String, by cause: ActivityEndCause, at time: Int64) {
        let path = MemberPath.activity(id)
        guard var activity = members[path]?.activity, activity.end == nil else { return }
        guard user != nil else {
            set(nil, at: path)
            return
        }
        activity.token = nil
        activity.end = ReportedActivity.End(cause: cause, time: time)
        set(.activity(activity), at: path)
        dropOldestEnds()
    }

    /// Records the end of an activity that runs, whose cause follows from its state.
    mutating func endActivity(_ id: String, isDismissed: Bool, at time: Int64) {
        let start = members[.activity(id)]?.activity?.startedAt
        let cause = ActivityEndCause(isDismissed: isDismissed, startedAt: start, endedAt: time)
        endActivity(id, by: cause, at: time)
    }

    /// Records the end of all activities except these.
    mutating func endActivities(except ids: Set<String>, at time: Int64) {
        for (path, value) in members where value.activity != nil {
            guard let id = path.names.last, !ids.contains(id) else { continue }
            endActivity(id, isDismissed: true, at: time)
        }
    }

    private mutating func dropOldestEnds() {
        let ends = members.compactMap { path, value in value.activity?.end.map { (path: path, time: $0.time) } }
        for end in ends.sorted(by: { $0.time < $1.time }).dropLast(Self.endedLimit) { set(nil, at: end.path) }
    }
}
