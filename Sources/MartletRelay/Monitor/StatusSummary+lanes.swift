// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The incidents of lanes.
extension StatusSummary {
    /// The incidents of lanes that are down or not tried since, one for each kind; a paused lane sends nothing that
    /// could show whether it still is.
    var laneIncidents: [Incident] { laneIncidents(in: .down) + laneIncidents(in: .notTried) }

    private func laneIncidents(in laneState: LaneState) -> [Incident] {
        // The command for a test is that of the worst lane.
        let down = facts.lanesWorstFirst.filter { $0.state == laneState }.compactMap { state in
            state.problem.map { (state: state, problem: $0, kind: Incident.Kind(reason: $0.reason)) }
        }
        return Incident.Kind.allCases.compactMap { kind in
            let found = down.filter { $0.kind == kind }
            guard let since = found.map(\.problem.since).min() else { return nil }
            let states = found.map(\.state)
            let reasons = Set(found.map(\.problem.reason)).sorted()
            // An outage with losses needs attention, however short it is.
            let isLasting = facts.now - since >= StatusSummary.lastingOutageTime
            let losses = states.map(\.losses).reduce(LossCounts(), +)
            let isCounted = self.isCounted(states)
            let keys = Set(states.map(\.keyID)).sorted()
            var incident = incident(
                of: states,
                kind,
                title: kind.title(names(of: states), keys: keys),
                since: since,
                losses: losses,
                isCounted: isCounted,
                detail: reasons.joined(separator: ", "),
                action: kind.action(reasons, isLasting: isLasting || losses.total > 0, doctor: states.first?.doctor)
            )
            if laneState == .notTried {
                incident.title = "\(names(of: states)) \(states.count == 1 ? "has" : "have") not been tried"
                incident.since = found.map { $0.problem.lastTry ?? $0.problem.since }.max()
                let isNothingLost = losses.total == 0 && isCounted
                incident.effect =
                    "No push waits that could show whether Apple accepts pushes again."
                    + (losses.text.map { " " + StatusText.sentence("Since the outage began, \($0)") } ?? "")
                    + (isNothingLost ? " None was lost." : "")
                incident.action =
                    kind.action(reasons, isLasting: true, doctor: states.first?.doctor)
                    + " The next push shows whether that helped."
                return incident
            }
            incident.effect += StatusSummary.openText(states)
            if kind == .keyRefused, keys.count > 1 { incident.effect += " The keys are \(StatusText.list(keys))." }
            if kind == .tokensRefused { incident.action += StatusSummary.purgeText(incident.waiting) }
            guard let obstacle, found.allSatisfy({ isUntested($0.state) }) else { return incident }
            // The cause of the last attempt may be gone.
            let lastTry = found.compactMap(\.problem.lastTry).max() ?? since
            incident.title = Incident.Kind.laneDown.title(names(of: states), keys: [])
            incident.effect =
                "Last tried \(StatusText.duration(facts.now - lastTry)) ago; not tried since, because \(obstacle). "
                + incident.effect
            incident.action = "Remove the problem of the storage first; then the relay tries at once."
            return incident
        }
    }

    /// The reason why no push can be claimed, as the end of a sentence; nil if pushes can be claimed.
    private var obstacle: String? {
        guard facts.store != nil || facts.commitSince != nil, let title = storeIncident?.title else { return nil }
        return title.prefix(1).lowercased() + title.dropFirst()
    }

    /// Returns whether the next attempt of a lane that is down is due and not under way.
    private func isUntested(_ state: LaneFacts) -> Bool {
        guard let problem = state.problem, problem.lastTry != nil else { return false }
        return problem.nextTry == nil && state.inFlight == 0
    }

    /// Returns a sentence about the pushes that a purge cancels, all of the lane.
    private static func purgeText(_ waiting: Int?) -> String {
        let count = waiting.map { " (\($0.counted("push")))" } ?? ""
        return " Purging the lane cancels everything that waits in it\(count), also pushes to valid tokens."
    }

    /// The outages that were over within the last hour, newest first.
    var pastIncidents: [Incident] {
        let recent = facts.pastOutages.filter { outage in
            (0..<StatusSummary.pastTime).contains(facts.now - outage.end)
                && (outage.lane == nil || facts.lanes.contains { $0.lane == outage.lane })
        }
        return StatusSummary.groups(of: recent).map(pastIncident).sorted { ($1.since ?? 0) < ($0.since ?? 0) }
    }

    /// Combines outages of the same kind whose times overlap: an outage of Apple ends for each lane at another time.
    private static func groups(of outages: [StatusWatch.PastOutage]) -> [[StatusWatch.PastOutage]] {
        var groups: [[StatusWatch.PastOutage]] = []
        for outage in outages.sorted(by: { $0.start < $1.start }) {
            let index = groups.lastIndex { group in
                group.contains { $0.incidentKind == outage.incidentKind && $0.end >= outage.start }
            }
            if let index { groups[index].append(outage) } else { groups.append([outage]) }
        }
        return groups
    }

    /// Returns the incident of outages that were over at about the same time, at least one.
    private func pastIncident(_ outages: [StatusWatch.PastOutage]) -> Incident {
        let states = facts.lanes.filter { state in outages.contains { $0.lane == state.lane } }
        let start = outages.map(\.start).min() ?? facts.now
        let end = outages.map(\.end).max() ?? facts.now
        let isPause = outages.contains(where: \.isPause)
        let interrupted = outages.first(where: \.isInterrupted)
        let scope = states.isEmpty ? "the storage" : names(of: states)
        let reason = Set(outages.map(\.reason)).sorted().joined(separator: ", ")
        // The end of pushes that have expired is stored later.
        let isCounted =
            facts.expiredUntil >= end && (states.isEmpty ? facts.lanes : states).allSatisfy { $0.expiredInFlight == 0 }
        let losses = PastLosses(outages, isCounted: isCounted, isDatabase: facts.isDatabase)
        return Incident(
            kind: .outageOver,
            formerKind: outages.first?.incidentKind,
            severity: .notice,
            title: (interrupted ?? outages.first).map { $0.title(scope) } ?? "",
            apps: states.isEmpty ? facts.apps : Set(states.map(\.lane.app)).sorted(),
            environments: Set(states.map(\.lane.environment.rawValue)).sorted(),
            since: end,
            lost: losses.count,
            effect: losses.effect(after: end - start)
                + (interrupted == nil ? "" : " It was not over when this relay was stopped."),
            detail: reason.isEmpty ? nil : (isPause ? "paused by " : "") + reason,
            action: losses.action
        )
    }

    /// The incident of lanes that operators have paused.
    var pauseIncident: Incident? {
        let paused = facts.lanes.filter { $0.state == .paused }
        let pauses = paused.compactMap(\.pause)
        guard let since = pauses.map(\.since).min() else { return nil }
        let callers = StatusText.list(Set(pauses.map(\.caller)).sorted())
        let losses = paused.map(\.lossesInPause).reduce(LossCounts(), +)
        var incident = incident(
            of: paused,
            .paused,
            title: "\(names(of: paused)) \(paused.count == 1 ? "is" : "are") paused by \(callers)",
            since: since,
            losses: nil,
            detail: StatusSummary.detail(ofPaused: paused),
            action: "Resume with martlet relay resume or on the status page; pushes that wait can expire."
        )
        incident.lost = losses.total
        if losses.total > 0 {
            let isWhole = since >= facts.startedAt || paused.contains(where: \.continuesPause)
            let start = isWhole ? "the pause" : "the start of this relay"
            let ends = StatusText.list(losses.parts(namesPushes: false))
            incident.effect = StatusSummary.waitingText(incident.waiting) + ", \(ends) since \(start)."
        }
        return incident
    }

    /// Returns the last problems of paused lanes; nil without one.
    private static func detail(ofPaused lanes: [LaneFacts]) -> String? {
        let reasons = Set(lanes.compactMap(\.problem?.reason)).sorted()
        return reasons.isEmpty ? nil : "last problem: " + reasons.joined(separator: ", ")
    }

    /// The incident of lanes that send pushes of which Apple accepts none.
    var failureIncident: Incident? {
        let failing = facts.lanes.filter { $0.state == .fails }
        guard !failing.isEmpty else { return nil }
        let attempts = failing.map(\.counts.recentAttempts).reduce(0, +)
        let counts = failing.compactMap(\.waiting)
        let waiting = counts.count == failing.count ? counts.reduce(0, +) : nil
        let reasons = Set(failing.compactMap(\.failing?.reason)).sorted()
        let isSinceOutage = failing.contains(where: \.isCountedSinceOutage)
        let period = isSinceOutage ? "since the last outage ended" : "of the last minute"
        let result = "None of the \(attempts.grouped) attempts \(period) succeeded. "
        let losses = failing.map(\.lossesWhileFailing).reduce(LossCounts(), +)
        return Incident(
            kind: .fails,
            severity: .warning,
            title: "Apple accepts no push of \(names(of: failing))",
            apps: Set(failing.map(\.lane.app)).sorted(),
            environments: Set(failing.map(\.lane.environment.rawValue)).sorted(),
            since: failing.compactMap(\.failing?.since).min(),
            waiting: waiting,
            lost: losses.total,
            effect: result + StatusSummary.waitingText(waiting) + (losses.text.map { "; " + $0 } ?? "") + ".",
            detail: reasons.isEmpty ? nil : reasons.joined(separator: ", "),
            action: "Look up Apple's reason in the runbook."
        )
    }

    /// The incident of pushes that are sent again although their lanes deliver.
    var retryIncident: Incident? {
        let retrying = facts.lanes.filter { $0.retrying > 0 && ![.paused, .down, .fails].contains($0.state) }
        guard !retrying.isEmpty else { return nil }
        let count = retrying.map(\.retrying).reduce(0, +)
        let since = retrying.compactMap { $0.backlog?.oldestRetry }.min()
        let isLong = since.map { facts.now - $0 >= StatusSummary.longestRetry } ?? false
        let pushes = count.counted("push")
        let age = since.map { " The oldest was accepted \(StatusText.duration(facts.now - $0)) ago." } ?? ""
        let blocked = retrying.map(\.blocked).reduce(0, +)
        let others = blocked > 0 ? " \(blocked.counted("push waits", "pushes wait")) behind others." : ""
        let reasons = Set(retrying.compactMap(\.retryReason)).sorted()
        return Incident(
            kind: .retrying,
            severity: isLong ? .warning : .notice,
            title: "\(pushes) of \(names(of: retrying)) \(count == 1 ? "is" : "are") being sent again",
            apps: Set(retrying.map(\.lane.app)).sorted(),
            environments: Set(retrying.map(\.lane.environment.rawValue)).sorted(),
            waiting: count,
            effect: "Apple refused \(count == 1 ? "it" : "them") for now or did not answer." + age + others,
            detail: reasons.isEmpty ? nil : reasons.joined(separator: ", "),
            action: isLong || retrying.contains { $0.expiry != nil }
                ? "Look up Apple's reason in the runbook." : StatusSummary.adviceToWait(StatusSummary.longestRetry)
        )
    }

    private func incident(
        of states: [LaneFacts],
        _ kind: Incident.Kind,
        title: String,
        since: Int64,
        losses: LossCounts?,
        isCounted: Bool = true,
        detail: String? = nil,
        action: String
    ) -> Incident {
        // Those that are in flight wait for the end of an outage, too.
        let counts = states.compactMap { $0.state == .down ? $0.undelivered : $0.waiting }
        let waiting = counts.count == states.count ? counts.reduce(0, +) : nil
        // Without a failed attempt, pushes are still sent; afterwards single ones test the lane.
        let areSent = states.contains {
            $0.state == .down && $0.problem?.lastTry == nil && $0.counts.inFlight > 0
        }
        return Incident(
            kind: kind,
            severity: states.compactMap(\.severity).min() ?? .warning,
            title: title,
            apps: Set(states.map(\.lane.app)).sorted(),
            environments: Set(states.map(\.lane.environment.rawValue)).sorted(),
            since: since,
            waiting: waiting,
            lost: losses?.total,
            effect: StatusSummary.effect(
                StatusSummary.waitingText(waiting, includesSent: areSent),
                losses: losses,
                isCounted: isCounted
            ),
            detail: detail,
            action: action
        )
    }

    /// Returns the remedy of a problem that the relay solves by itself unless it lasts longer than a time in
    /// milliseconds.
    fileprivate static func adviceToWait(_ time: Int64) -> String {
        "Nothing to do unless it lasts \(StatusText.duration(time)) or pushes expire."
    }

    /// Returns the effect of a lane that sends nothing; `losses` is nil if they are not known.
    ///
    /// Only if all losses are counted, none means that none is lost.
    private static func effect(_ pushes: String, losses: LossCounts?, isCounted: Bool) -> String {
        guard let losses else { return pushes + "." }
        if let text = losses.text { return "\(pushes); \(text)." }
        return pushes + (isCounted ? ", none is lost." : ".")
    }

    /// Returns the number of waiting pushes, which may include those in flight.
    static func waitingText(_ waiting: Int?, includesSent: Bool = false) -> String {
        guard let waiting else { return "The number of waiting pushes is not known" }
        let pushes = waiting == 0 ? "No push waits" : waiting.counted("push waits", "pushes wait")
        guard includesSent else { return pushes }
        return pushes + (waiting > 1 ? " or are in flight" : " or is in flight")
    }

    /// Returns the apps of lanes, with the environment of those that have further lanes.
    func names(of states: [LaneFacts]) -> String {
        let lanes = states.map(\.lane)
        let apps = Set(lanes.map(\.app)).sorted()
        let partial = apps.filter { app in
            lanes.count { $0.app == app } < facts.lanes.count { $0.lane.app == app }
        }
        let environments = Set(lanes.map(\.environment.rawValue))
        if apps.count > 1, partial == apps, environments.count == 1 {
            return "\(StatusText.list(apps)) in \(environments.joined())"
        }
        let names = apps.flatMap { app -> [String] in
            guard partial.contains(app) else { return [app] }
            return lanes.filter { $0.app == app }.map { "\(app) (\($0.environment.rawValue))" }
        }
        return StatusText.list(names)
    }
}

extension StatusWatch.PastOutage {
    /// The kind of the outage.
    ///
    /// Each lane notices an outage of Apple or of the network in its own way, so that these are one kind.
    fileprivate var incidentKind: Incident.Kind {
        switch kind {
        case .pause: return .paused
        case .failing: return .fails
        case .expiry: return .pushesExpire
        case .stop: return .relayMissing
        case .outage: break
        }
        guard lane != nil else { return .notStoring }
        let kind = Incident.Kind(reason: reason)
        return [.connectionsReset, .appleSilent, .appleErrors].contains(kind) ? .appleUnreachable : kind
    }
}

extension Incident.Kind {
    /// Creates the kind of a lane that is down for a reason.
    init(reason: String) {
        switch reason {
        case "ConnectionFailed", "TimedOut", "NameNotResolved": self = .appleUnreachable
        case LaneOutage.connectionLost: self = .connectionsReset
        case "CertificateRejected", "NotHTTP2": self = .tlsIntercepted
        case SendResult.noAnswer: self = .appleSilent
        case APNsReason.badDeviceToken.rawValue: self = .tokensRefused
        case APNsReason.internalServerError.rawValue, APNsReason.serviceUnavailable.rawValue,
            APNsReason.shutdown.rawValue:
            self = .appleErrors
        case _ where reason.hasPrefix("Status 5"): self = .appleErrors
        default:
            let cause = RefusalCause(APNsReason(rawValue: reason))
            self = cause == .credentials || cause == .providerToken ? .keyRefused : .laneDown
        }
    }

    /// Returns the title for some apps, whose lanes use keys with these identifiers.
    fileprivate func title(_ apps: String, keys: [String]) -> String {
        switch self {
        case .appleUnreachable: "Apple cannot be reached for \(apps)"
        case .connectionsReset: "Connections to Apple are reset for \(apps)"
        case .tlsIntercepted: "TLS to Apple is intercepted for \(apps)"
        case .appleSilent: "Apple does not answer for \(apps)"
        case .keyRefused where keys.count > 1: "Apple refuses \(keys.count) keys of \(apps)"
        case .keyRefused: "Apple refuses the key \(StatusText.list(keys)) of \(apps)"
        case .tokensRefused: "Apple refuses the device tokens of \(apps)"
        case .appleErrors: "Apple answers with errors for \(apps)"
        default: "Nothing is delivered for \(apps)"
        }
    }

    /// Returns the remedy, with the command that tests a lane; an outage that is lasting needs another one than a short
    /// one.
    fileprivate func action(_ reasons: [String], isLasting: Bool, doctor: String?) -> String {
        switch self {
        case .appleUnreachable where isLasting:
            "Test the connection from the relay's machine with \(doctor ?? "martlet doctor"), where KEY_FILE is the"
                + " path of the app's key, and see https://developer.apple.com/system-status/."
        case .connectionsReset where isLasting:
            "Look for a firewall or proxy that resets connections, and see https://developer.apple.com/system-status/."
        case .appleSilent where isLasting:
            "Look for a firewall that drops packets, and see https://developer.apple.com/system-status/."
        case .appleErrors where isLasting: "See https://developer.apple.com/system-status/."
        case .appleUnreachable, .connectionsReset, .appleSilent, .appleErrors:
            StatusSummary.adviceToWait(StatusSummary.lastingOutageTime)
        case .tlsIntercepted: "Let the relay's machine connect to Apple without a proxy or firewall that ends TLS."
        case .keyRefused where reasons == [APNsReason.tooManyProviderTokenUpdates.rawValue]:
            "Find the other services that sign with this key: their tokens change too often."
        case .keyRefused:
            "Compare key-id, team-id and the key file with the developer account, check the clock, and reload."
        case .tokensRefused:
            "Find the back end that sends tokens of the other environment, and stop it."
        default: "Look up the reason in the runbook."
        }
    }
}
