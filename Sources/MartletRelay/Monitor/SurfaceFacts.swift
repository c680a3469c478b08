// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The facts about the surfaces of an app.
struct SurfaceFacts: Sendable {
    /// The time after which a change that has not reached its whole audience is late, in milliseconds.
    private static let longestSpread: Int64 = 600_000

    var app: String
    /// The number of surfaces that are not withdrawn.
    var count: Int
    /// The surfaces whose change has not reached all of their audience; nil for none.
    var spreading: SurfaceRunner.Spreading?
    /// The staleness of the last minutes; nil when no push has shown a change.
    var times: SurfaceStaleness.Times?
    /// The time since which the pushes of each minute are late, in milliseconds since 1970; nil when they are not.
    var lateSince: Int64?
    /// The number of pushes that could not be built, of refused broadcasts, and of steps that could not be decided,
    /// since the start.
    var problems = 0
    /// The surfaces whose last broadcast Apple has refused, those that began first at the start.
    var refusedBroadcasts: [RefusedBroadcasts.Refusal] = []

    /// Returns the changes that have been spreading for too long; nil without any.
    func lateChanges(at now: Int64) -> SurfaceRunner.Spreading? {
        spreading.flatMap { now - $0.since >= SurfaceFacts.longestSpread ? $0 : nil }
    }

    /// Returns the time since which changes are late, in milliseconds since 1970; nil when they are not.
    func problemSince(at now: Int64) -> Int64? {
        [lateSince, lateChanges(at: now)?.since].compactMap(\.self).min()
    }
}

extension StatusFacts {
    /// The figure of all surfaces; nil without any.
    var surfaceFigure: StatusFigure? {
        guard !surfaces.isEmpty else { return nil }
        let times = surfaces.compactMap(\.times).reduce(into: SurfaceStaleness.Times()) { $0.add($1) }
        let spreading = surfaces.compactMap(\.spreading?.count).reduce(0, +)
        let problems = surfaces.map(\.problems).reduce(0, +)
        let numbers = [
            surfaces.map(\.count).reduce(0, +).counted("surface"),
            spreading > 0 ? "\(spreading.grouped) spreading" : nil,
            problems > 0 ? problems.counted("problem") : nil,
        ].compactMap(\.self).joined(separator: ", ")
        guard times.count > 0 else {
            return StatusFigure(name: "Staleness", value: "–", note: "no update to Apple in 5 min; \(numbers)")
        }
        let (median, longest) = (StatusText.shortDuration(times.quantile(0.5)), StatusText.shortDuration(times.longest))
        return StatusFigure(
            name: "Staleness",
            value: StatusText.shortDuration(times.quantile(0.95)),
            note: "updates to Apple: p95 of 5 min, p50 \(median), maximum \(longest); \(numbers)",
            tone: surfaces.contains { $0.problemSince(at: now) != nil } ? .warning : .normal
        )
    }
}

extension StatusSummary {
    /// The incidents of surfaces whose changes reach Apple late, one for each app.
    var surfaceIncidents: [Incident] {
        facts.surfaces.compactMap { state in
            guard let since = state.problemSince(at: facts.now) else { return nil }
            return Incident(
                kind: .surfacesLate,
                severity: .warning,
                title: "Surfaces of \(state.app) are late",
                apps: [state.app],
                since: since,
                effect: [timesText(of: state), changesText(of: state)].compactMap(\.self).joined(separator: " "),
                action: "Find out why pushes wait; check the load of the \(facts.isDatabase ? "database" : "disk"),"
                    + " and change surfaces of many phones less often."
            )
        }
    }

    /// The incidents of broadcasts that Apple refuses, one for each app.
    var broadcastIncidents: [Incident] {
        facts.surfaces.compactMap { state in
            guard let first = state.refusedBroadcasts.first else { return nil }
            let names = state.refusedBroadcasts.map { refusal in
                "\(refusal.surface) (\(refusal.reason?.rawValue ?? "unknown reason"))"
            }
            let remedy = first.reason?.broadcastRemedy ?? "check its channel"
            return Incident(
                kind: .broadcastsRefused,
                severity: .warning,
                title: "Apple refuses broadcasts of surfaces of \(state.app)",
                apps: [state.app],
                since: first.since,
                effect: "The phones on the channel of \(StatusText.list(names)) show an earlier state.",
                action: "Correct the cause for \(first.surface): \(remedy)."
            )
        }
    }

    /// Returns a sentence about late pushes; nil without any.
    private func timesText(of state: SurfaceFacts) -> String? {
        guard state.lateSince != nil, let times = state.times, times.late > 0 else { return nil }
        return "\(times.late.grouped) of \(times.count.counted("push", "pushes")) to phones in the last 5 min reached"
            + " Apple more than \(StatusText.duration(SurfaceStaleness.Times.bound)) after the change;"
            + " the longest took \(StatusText.exactDuration(times.longest)) (\(times.slowest))."
    }

    /// Returns a sentence about changes that have not reached their whole audience; nil without any.
    private func changesText(of state: SurfaceFacts) -> String? {
        state.lateChanges(at: facts.now).map { changes in
            "\(changes.count.counted("change has", "changes have")) not reached the whole audience, the oldest for"
                + " \(StatusText.duration(facts.now - changes.since))."
        }
    }
}
