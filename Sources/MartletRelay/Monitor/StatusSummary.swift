// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// Decides which problems a relay has, and states them in one line.
///
/// The status page, `martlet relay status` and `/readyz?verbose` show its texts, so that they agree.
struct StatusSummary: Sendable {
    /// The time without a repetition after which a clock jump is no longer reported, in milliseconds.
    static let clockJumpTime: Int64 = 3_600_000
    /// The duration of an outage after which an operator should look for its cause, in milliseconds.
    static let lastingOutageTime: Int64 = 600_000
    /// The age after which a push that waits for another attempt is a warning, in milliseconds.
    static let longestRetry: Int64 = 1_800_000
    /// The time for which an outage that is over is reported, in milliseconds.
    static let pastTime: Int64 = 3_600_000
    /// The age of the newest dead letter up to which dead letters are a warning, in milliseconds.
    static let recentTime: Int64 = 3_600_000

    let facts: StatusFacts
    /// The problems, worst first.
    private(set) var incidents: [Incident] = []

    init(_ facts: StatusFacts) {
        self.facts = facts
        var found = [storeIncident, diskIncident, drainIncident, pauseIncident, rejectionIncident].compactMap(\.self)
        found += [outdatedIncident, clockIncident, retryIncident, failureIncident].compactMap(\.self)
        found += laneIncidents + expiryIncidents + pastIncidents + surfaceIncidents + broadcastIncidents
        found += webhookIncidents
        found += missingIncidents + duplicateIncidents
        found += [facts.earlierEnd?.incident(facts.apps, at: facts.now)].compactMap(\.self)
        found += deadLetterIncidents + damageIncidents
        found += facts.expiries.map { $0.incident(facts.apps) }
        incidents = found.sorted { $0.isWorse(than: $1) }
    }

    /// The state of the relay in one line: the worst problem that is urgent, and the number of others.
    var headline: String {
        let urgent = incidents.filter { $0.severity != .notice }
        guard let worst = urgent.first else { return healthyHeadline }
        let others = urgent.count - 1
        return worst.headline(at: facts.now) + (others == 0 ? "" : " \(others.counted("more problem")).")
    }

    /// The headline of a relay without urgent problems.
    private var healthyHeadline: String {
        let delivering = Set(facts.lanes.filter { $0.state == .delivers }.map(\.lane.app))
        let ready = facts.apps.filter { !delivering.contains($0) }
        let state =
            if ready.isEmpty || delivering.isEmpty {
                StatusSummary.statement(about: facts.apps, delivers: ready.isEmpty)
            } else {
                "\(StatusText.list(delivering.sorted())) \(delivering.count == 1 ? "delivers" : "deliver"),"
                    + " \(StatusText.list(ready)) \(ready.count == 1 ? "is" : "are") ready."
            }
        let counts = facts.lanes.compactMap(\.waiting)
        guard counts.count == facts.lanes.count else { return state }
        return state + " \(StatusSummary.waitingText(counts.reduce(0, +)))."
    }

    /// Returns the state of apps that all deliver, or of which none has delivered a push in the last minute.
    private static func statement(about apps: [String], delivers: Bool) -> String {
        switch apps.count {
        case 0: "The key is for no app of this relay."
        case 1: "\(apps[0]) \(delivers ? "delivers" : "is ready")."
        case 2: "Both apps \(delivers ? "deliver" : "are ready")."
        default: "All \(apps.count) apps \(delivers ? "deliver" : "are ready")."
        }
    }

    // MARK: Storage

    /// The incident of an outbox that stores no pushes.
    var storeIncident: Incident? {
        let refusal = "New pushes are refused with 503"
        let count = "\(facts.notStored.grouped) \(facts.isDatabase ? "by this relay " : "")so far"
        let counted = refusal + (facts.notStored == 0 ? "" : ", \(count)") + "; "
        if let problem = facts.store {
            let (kind, title) = storeTitle(problem.kind)
            let isDamaged = kind == .dataDamaged
            return incident(
                kind,
                title,
                since: problem.since,
                lost: nil,
                effect: counted + (isDamaged ? "accepted pushes may be unreadable." : StatusSummary.storedText),
                detail: problem.error,
                action: StatusText.sentence(problem.action)
            )
        }
        if let since = facts.commitSince {
            let store = facts.isDatabase ? "database" : "disk"
            return incident(
                .storeSilent,
                "The \(store) does not answer",
                since: since,
                lost: nil,
                effect: counted + StatusSummary.storedText,
                action: facts.isDatabase
                    ? "Check that the database runs, and its locks." : "Check the load of the disk with iostat -x 1."
            )
        }
        guard facts.isFull else { return nil }
        let refused = facts.fullQueue.map { ", \($0.total.grouped) so far" } ?? ""
        let busiest = facts.fullQueue?.busiestCaller
        let caller = busiest.map { $0 == CallerCounter.other ? "" : ", most of them from \($0)" } ?? ""
        return incident(
            .queueFull,
            "As many pushes wait as the setting limit allows",
            since: facts.fullQueue?.since,
            waiting: facts.lanes.compactMap(\.waiting).reduce(0, +),
            effect: refusal + refused + caller + "; accepted pushes are stored.",
            action: "Remove the cause for which pushes wait, or raise limit."
        )
    }

    /// The effect of the storage on accepted pushes, which it neither sends nor ends.
    private static let storedText = "accepted pushes are stored, and those that expire are counted afterwards."

    /// The incident of a disk that is nearly full, until pushes are refused.
    private var diskIncident: Incident? {
        guard facts.store == nil, let shortage = facts.diskShortage else { return nil }
        return incident(
            .diskLow,
            "The disk of the outbox is nearly full",
            since: shortage.since,
            effect: "It has \((shortage.free >> 20).grouped) MB free. The relay refuses pushes with 503 when it can"
                + " store nothing.",
            action: "Free space on the disk, or enlarge it.",
            severity: .warning
        )
    }

    private func storeTitle(_ kind: OutboxError.Kind) -> (Incident.Kind, String) {
        switch kind {
        case .damaged: (.dataDamaged, "The stored data is damaged")
        case .full: (.diskFull, facts.isDatabase ? "The disk of the database is full" : "The disk is full")
        case .unreachable: (.databaseAway, "The database does not answer")
        case .unavailable where facts.isDatabase: (.databaseAway, "The database stores no pushes")
        case .inUse: (.notStoring, "Another relay uses the data")
        case .denied: (.notStoring, "The relay lacks a right in the database")
        case .unavailable, .refused, .closed: (.notStoring, "The relay cannot store pushes")
        }
    }

    private func incident(
        _ kind: Incident.Kind,
        _ title: String,
        since: Int64? = nil,
        waiting: Int? = nil,
        lost: Int? = 0,
        effect: String = "",
        detail: String? = nil,
        action: String,
        severity: Incident.Severity = .critical
    ) -> Incident {
        let environments = Set(facts.lanes.map(\.lane.environment.rawValue)).sorted()
        return Incident(
            kind: kind,
            severity: severity,
            title: title,
            apps: facts.apps,
            environments: environments,
            since: since,
            waiting: waiting,
            lost: lost,
            effect: effect,
            detail: detail,
            action: action
        )
    }

    // MARK: The relay

    private var drainIncident: Incident? {
        guard facts.isDraining else { return nil }
        return incident(
            .draining,
            "This relay is shutting down",
            effect: "It accepts no more pushes, and stores the results of those in flight.",
            action: "Nothing to do if that is intended.",
            severity: .warning
        )
    }

    private var rejectionIncident: Incident? {
        facts.rejection.map { rejection in
            incident(
                .configurationRejected,
                "The new configuration was rejected",
                since: rejection.since,
                effect: "The relay runs with the earlier one, and would not start with the new one.",
                detail: rejection.error,
                action: "Check the file with martlet relay check, correct it, and reload again.",
                severity: .warning
            )
        }
    }

    private var clockIncident: Incident? {
        guard let jump = facts.clockJump, (0..<StatusSummary.clockJumpTime).contains(facts.now - jump.time) else {
            return nil
        }
        let size = StatusText.duration(Int64(clamping: jump.seconds.magnitude).multipliedReportingOverflow(by: 1_000).0)
        return incident(
            .clockJumped,
            "The clock of this machine jumped \(jump.seconds < 0 ? "back" : "ahead") by \(size)",
            since: jump.time,
            effect: "For an hour the relay deletes no outcomes.",
            action: "Check the clock with timedatectl.",
            severity: .notice
        )
    }

    private var outdatedIncident: Incident? {
        guard facts.store == nil, let since = facts.fleetOutdatedSince else { return nil }
        return incident(
            .fleetOutdated,
            "The data about the other relays is outdated",
            since: since,
            effect: "Totals over all relays do not change meanwhile.",
            action: "Check that the database runs.",
            severity: .warning
        )
    }

    private var missingIncidents: [Incident] {
        let isStoring = facts.store == nil && facts.commitSince == nil
        // Without the database, the other relays neither accept pushes nor claim those of the missing relay.
        let effect =
            isStoring
            ? (facts.runningRelays == 1 ? "This relay delivers" : "The other relays deliver")
                + " its pushes; those in flight are sent again."
            : "Its pushes wait until the database can be used again."
        return facts.missingRelays.map { relay in
            incident(
                .relayMissing,
                "Relay \(relay.number) (\(relay.name)) is missing",
                effect: "Its last heartbeat was \(StatusText.duration(facts.now - relay.since)) ago. " + effect,
                action: "Start it again if it should run; its last log lines name the cause.",
                severity: .warning
            )
        }
    }

    private var duplicateIncidents: [Incident] {
        facts.duplicateRelays.map { duplicate in
            incident(
                .duplicateName,
                "Relays \(StatusText.list(duplicate.numbers.map { String($0) })) have the same name, \(duplicate.name)",
                effect: "They deliver, but their logs and metrics have the same name.",
                action: "Set node to another name in the configuration of each, and restart it.",
                severity: .warning
            )
        }
    }

    private var webhookIncidents: [Incident] {
        facts.webhooks.map { app, problem in
            Incident(
                kind: .webhookFailing,
                severity: .warning,
                title: "The webhook of \(app) fails",
                apps: [app],
                since: problem.since,
                effect: "Its reports about unregistered tokens and ended jobs wait.",
                detail: problem.error,
                action: "Correct the receiver; the relay repeats the report at least once an hour."
            )
        }
    }

    /// The incidents of pushes that were not sent because their stored content is damaged.
    private var damageIncidents: [Incident] {
        facts.apps.compactMap { app in
            guard let damaged = facts.deadLetters[app]?.damaged, damaged > 0 else { return nil }
            let isOne = damaged == 1
            return Incident(
                kind: .damagedPushes,
                severity: .warning,
                title: "\(damaged.counted("stored push", "stored pushes")) of \(app) \(isOne ? "is" : "are") damaged",
                apps: [app],
                lost: damaged,
                effect: isOne ? "It was not sent." : "They were not sent.",
                detail: Outcome.damagedReason,
                action: "Check the disk, and the other pushes with martlet relay data check. Submit"
                    + " \(isOne ? "it" : "them") again from the back end, or restore a backup, and discard the dead"
                    + " \(isOne ? "letter" : "letters")."
            )
        }
    }

    private var deadLetterIncidents: [Incident] {
        facts.apps.compactMap { app in
            guard let letters = facts.deadLetters[app], letters.count > 0 else { return nil }
            let isRecent = facts.now - letters.newest < StatusSummary.recentTime
            let pushes = letters.count.counted("push")
            let (were, them) = letters.count == 1 ? ("was", "it") : ("were", "them")
            return Incident(
                kind: .deadLetters,
                severity: isRecent ? .warning : .notice,
                title: "\(pushes) of \(app) \(were) abandoned after repeated attempts",
                apps: [app],
                lost: letters.count,
                effect: "The last one was abandoned \(StatusText.duration(facts.now - letters.newest)) ago.",
                action: "When the cause is gone, send \(them) again from the dead letters."
            )
        }
    }
}
