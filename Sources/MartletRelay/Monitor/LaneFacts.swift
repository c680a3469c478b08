// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The facts about a lane at one time, from which its ``LaneState`` and its part of the status are made.
///
/// Times are milliseconds since 1970.
struct LaneFacts: Sendable {
    var lane: Lane
    /// The reason why nothing is delivered; nil when there is none.
    var problem: LaneProblem?
    /// The pause by an operator; nil without one.
    var pause: LanePause?
    /// Whether this relay can store pushes.
    var isStoring = true
    /// The identifier of the key that signs the lane's provider tokens.
    var keyID = ""
    /// The command that tests the lane's connection and credentials; `KEY_FILE` stands for the path of the key.
    var doctor = "martlet doctor"
    /// The number of pushes of this relay that wait for Apple's answer.
    var inFlight = 0
    /// The numbers of all relays that share the outbox.
    ///
    /// The attempts are those of the last minute, or those since the problem was noticed or ended.
    var counts = LaneCounts()
    /// Whether the attempts are those since a problem ended in the last minute.
    var isCountedSinceOutage = false
    /// The stored pushes; nil while the outbox cannot be read.
    var backlog: Backlog?
    /// The attempts of this relay since Apple accepted a push; nil while the last one was accepted.
    var failing: DispatchCounts.Failing?
    /// Apple's last answer to one of the pushes that are sent again, if it is known; nil while there is no such push.
    var retryReason: String?
    /// The pushes that were lost since the problem began.
    var losses = LossCounts()
    /// The number of pushes that were lost since then and are counted for another problem.
    var lostElsewhere = 0
    /// The number of pushes that have expired while they wait for Apple's answer, which may be that it accepted them.
    var expiredInFlight = 0
    /// The pushes that were lost since the pause began, or since the start of the relay if that is later.
    var lossesInPause = LossCounts()
    /// Whether these include those before a restart.
    var continuesPause = false
    /// The pushes that were lost since Apple has accepted none.
    var lossesWhileFailing = LossCounts()
    /// The pushes that expire without another problem; nil when none do.
    var expiry: Expiry?

    /// The pushes of a lane that expire without another problem.
    struct Expiry: Sendable, Hashable {
        /// The time since which pushes expire.
        var since: Int64
        /// The number of pushes that have expired since then.
        var count: Int
        /// The number that expire per second.
        var rate: Double
    }

    var state: LaneState { LaneState(self) }

    /// The kind of the incident about the lane; nil when nothing keeps its pushes from being delivered.
    var incidentKind: Incident.Kind? {
        switch state {
        case .paused: .paused
        case .down, .notTried: Incident.Kind(reason: problem?.reason ?? "")
        case .notStoring: .notStoring
        case .fails: .fails
        case .delivers, .ready: expiry == nil ? nil : .pushesExpire
        }
    }

    /// The severity of that incident; nil without one.
    ///
    /// Development lanes deliver to the phones of developers only.
    var severity: Incident.Severity? {
        guard incidentKind != nil else { return nil }
        switch state {
        case .notStoring: return .critical
        case .down: return lane.environment == .development ? .warning : .critical
        default: return .warning
        }
    }

    /// The number of pushes that wait: they are stored and not in flight; nil while the outbox cannot be read.
    ///
    /// Those that wait for their time, for another attempt and behind others are included. Every surface has this
    /// number, and beside it that of the pushes in flight.
    var waiting: Int? { backlog.map { max(0, $0.count - counts.inFlight) } }

    /// The number of pushes that wait or are in flight; nil while the outbox cannot be read.
    var undelivered: Int? { backlog?.count }

    /// The number of pushes that are sent again.
    var retrying: Int { backlog?.retrying ?? 0 }

    /// Whether the lane has no push, and no attempt since the start of the relay has failed.
    var isIdle: Bool { state == .ready && undelivered == 0 && counts.inFlight == 0 && counts.failures.isEmpty }

    /// The number of waiting pushes that wait behind others.
    var blocked: Int { backlog?.blocked ?? 0 }

    /// Returns the time since the push that has been due longest became due, in milliseconds; nil when none is due.
    func oldestAge(at now: Int64) -> Int64? { backlog?.oldest.flatMap { $0 <= now ? now - $0 : nil } }

    /// Returns the lane for the status, at a time in milliseconds since 1970.
    func json(at now: Int64) -> JSONValue {
        let members: [JSONValue.Member?] = [
            .init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue)),
            backlog.map { .init("backlog", .whole($0.count)) }, waiting.map { .init("waiting", .whole($0)) },
            oldestAge(at: now).map { .init("oldest-seconds", .whole($0 / 1_000)) },
            backlog.map { .init("blocked", .whole($0.blocked)) },
            backlog.map { .init("retrying", .whole($0.retrying)) },
            backlog?.oldestRetry.map { .init("retrying-since", .whole($0)) },
            retryReason.map { .init("retry-reason", .string($0)) }, .init("state", .string(state.rawValue)),
            .init("idle", .bool(isIdle)),
            pause.map { .init("manual-pause", $0.json) }, problem.map { .init("reason", .string($0.reason)) },
            problem.map { .init("since", .whole($0.since)) },
            problem.flatMap(\.nextTry).map { .init("paused-until", .whole($0)) },
        ]
        return .object(members.compactMap(\.self) + counts.members)
    }
}
