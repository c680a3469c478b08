// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The facts for a ``StatusSummary``.
///
/// Times are milliseconds since 1970.
struct StatusFacts: Sendable {
    /// The problem of an outbox that stores no pushes.
    struct StoreProblem: Sendable {
        var kind: OutboxError.Kind
        var error: String
        var since: Int64?
        var action: String
    }

    /// A jump of the wall clock.
    struct ClockJump: Sendable, Hashable {
        var time: Int64
        /// The seconds by which the clock jumped, negative for a jump back.
        var seconds: Int64
    }

    var now: Int64
    /// The start of the relay, since which losses are counted.
    var startedAt: Int64 = 0
    /// The names of the apps that the status is about.
    var apps: [String]
    var lanes: [LaneFacts]
    var isDraining = false
    /// Whether the outbox is a database.
    var isDatabase = false
    var store: StoreProblem?
    /// The start of a commit that takes too long; nil without one.
    var commitSince: Int64?
    /// The shortage of space on the disk of the outbox; nil without one.
    var diskShortage: DiskWatch.Shortage?
    /// The number of pushes that this relay has refused since it cannot store them.
    var notStored = 0
    /// Whether as many pushes wait as the outbox may contain.
    var isFull = false
    /// The pushes that this relay refuses because of that; nil when it refuses none.
    var fullQueue: FullQueue.Period?
    var rejection: LastingProblem?
    /// The webhooks that accept no reports, by the name of the app.
    var webhooks: [(app: String, problem: LastingProblem)] = []
    var expiries: [ExpiryWarning] = []
    var clockJump: ClockJump?
    var deadLetters: [String: DeadLetterCount] = [:]
    /// The time of the last data about the relays that share the database, if that is outdated.
    var fleetOutdatedSince: Int64?
    /// The number of relays that share the database and are not missing; 0 without a database.
    var runningRelays = 0
    /// The end of the process that ran before; nil if it is not known.
    var earlierEnd: EarlierEnd?
    var missingRelays: [FleetView.MissingNode] = []
    /// The surfaces of each app that has some, if this relay leads the fleet.
    var surfaces: [SurfaceFacts] = []
    /// The relays that run with the same name.
    var duplicateRelays: [FleetView.Duplicate] = []
    /// The time up to which all pushes that have expired were ended, unless they are claimed.
    var expiredUntil = Int64.max
    /// The latest outages that are over, oldest first.
    var pastOutages: [StatusWatch.PastOutage] = []

    /// The lanes, those with a problem first, in the order of ``Incident/isWorse(than:)``; then by app, production
    /// before development.
    ///
    /// The numbers of pushes do not count, because a table whose rows move each second cannot be read.
    var lanesWorstFirst: [LaneFacts] {
        func rank(_ facts: LaneFacts) -> (Int, Int, Int, String, Int) {
            let (app, environment) = (facts.lane.app, facts.lane.environment == .production ? 0 : 1)
            guard let severity = facts.severity, let kind = facts.incidentKind else {
                return (Incident.Severity.allCases.count, 0, 0, app, environment)
            }
            return (severity.rank, environment, kind.rank, app, environment)
        }
        return lanes.sorted { rank($0) < rank($1) }
    }
}
