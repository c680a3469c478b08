// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The incidents of lanes.
extension StatusSummary {
    /// The incidents of lanes that are down, one for each kind; a paused lane sends nothing that could show whether it
    /// still is.
    var laneIncidents: [Incident] {
        let down = facts.lanes.filter { $0.pause == nil }.compactMap { state in
            state.problem.map { (state: state, problem: $0, kind: Incident.Kind(reason: $0.reason)) }
        }
        return Incident.Kind.allCases.compactMap { kind in
            let found = down.filter { $0.kind == kind }
            guard let since = found.map(\.problem.since).min() else { return nil }
            let states = found.map(\.state)
            let reasons = Set(found.map(\.problem.reason)).sorted()
            let isLasting = facts.now - since >= StatusSummary.lastingOutageTime
            return incident(
                of: states,
                kind,
                title: kind.title(names(of: states)),
                since: since,
                lost: states.map(\.lost).reduce(0, +),
                refused: states.map(\.refused).reduce(0, +),
                detail: reasons.joined(separator: ", "),
                action: kind.action(reasons, isLasting: isLasting)
            )
        }
    }

    /// The outages that were over within the last hour, newest first.
    var pastIncidents: [Incident] {
        facts.pastOutages.reversed().compactMap { outage in
            guard (0..<StatusSummary.pastTime).contains(facts.now - outage.end) else { return nil }
            let states = facts.lanes.filter { $0.lane == outage.lane }
            guard outage.lane == nil || !states.isEmpty else { return nil }
            let name = outage.lane == nil ? "the storage" : names(of: states)
            let losses = StatusSummary.lossText(outage.lost, refused: outage.refused)
            let duration = StatusText.duration(outage.end - outage.start)
            return Incident(
                kind: .outageOver,
                severity: .notice,
                title: "The outage of \(name) is over",
                apps: outage.lane.map { [$0.app] } ?? facts.apps,
                environments: outage.lane.map { [$0.environment.rawValue] } ?? [],
                since: outage.end,
                lost: outage.lost + outage.refused,
                effect: "It lasted \(duration)" + (losses.map { "; \($0)." } ?? ", and no accepted push was lost."),
                detail: outage.reason,
                action: losses == nil ? "Nothing to do." : "Send again what still matters."
            )
        }
    }

    /// The incident of lanes that operators have paused.
    var pauseIncident: Incident? {
        let paused = facts.lanes.filter { $0.pause != nil }
        let pauses = paused.compactMap(\.pause)
        guard let since = pauses.map(\.since).min() else { return nil }
        let callers = StatusText.list(Set(pauses.map(\.caller)).sorted())
        return incident(
            of: paused,
            .paused,
            title: "\(names(of: paused)) \(paused.count == 1 ? "is" : "are") paused by \(callers)",
            since: since,
            lost: 0,
            detail: StatusSummary.detail(ofPaused: paused),
            action: "Resume with martlet relay resume or on the status page; pushes that wait can expire.",
            severity: .warning
        )
    }

    /// Returns the last problems of paused lanes; nil without one.
    private static func detail(ofPaused lanes: [StatusFacts.LaneState]) -> String? {
        let reasons = Set(lanes.compactMap(\.problem?.reason)).sorted()
        return reasons.isEmpty ? nil : "last problem: " + reasons.joined(separator: ", ")
    }

    /// The incident of lanes that send pushes of which Apple accepts none.
    var failureIncident: Incident? {
        let failing = facts.lanes.filter(isFailing)
        guard !failing.isEmpty else { return nil }
        let attempts = failing.map(\.attempts).reduce(0, +)
        let counts = failing.compactMap(\.waiting)
        let waiting = counts.count == failing.count ? counts.reduce(0, +) : nil
        let reasons = Set(failing.compactMap(\.retryReason)).sorted()
        let result = "None of the \(StatusText.count(attempts)) attempts of the last minute succeeded. "
        return Incident(
            kind: .retrying,
            severity: .warning,
            title: "Apple accepts no push of \(names(of: failing))",
            apps: Set(failing.map(\.lane.app)).sorted(),
            environments: Set(failing.map(\.lane.environment.rawValue)).sorted(),
            waiting: waiting,
            lost: nil,
            effect: result + StatusSummary.waitingText(waiting) + ".",
            detail: reasons.isEmpty ? nil : reasons.joined(separator: ", "),
            action: "Look up Apple's reason in the runbook."
        )
    }

    private func isFailing(_ state: StatusFacts.LaneState) -> Bool {
        state.problem == nil && state.pause == nil && state.activity == .fails
    }

    /// The incident of pushes that are sent again although their lanes deliver.
    var retryIncident: Incident? {
        let retrying = facts.lanes.filter { $0.retrying > 0 && $0.problem == nil && !isFailing($0) }
        guard !retrying.isEmpty else { return nil }
        let count = retrying.map(\.retrying).reduce(0, +)
        let since = retrying.compactMap(\.retryingSince).min()
        let isLong = since.map { facts.now - $0 >= StatusSummary.longestRetry } ?? false
        let pushes = StatusText.count(count, "push", "pushes")
        let age = since.map { " The oldest was accepted \(StatusText.duration(facts.now - $0)) ago." } ?? ""
        let reasons = Set(retrying.compactMap(\.retryReason)).sorted()
        return Incident(
            kind: .retrying,
            severity: isLong ? .warning : .notice,
            title: "\(pushes) of \(names(of: retrying)) \(count == 1 ? "is" : "are") being sent again",
            apps: Set(retrying.map(\.lane.app)).sorted(),
            environments: Set(retrying.map(\.lane.environment.rawValue)).sorted(),
            waiting: count,
            effect: "Apple refused them for now or did not answer; none is lost." + age,
            detail: reasons.isEmpty ? nil : reasons.joined(separator: ", "),
            action: isLong ? "Look up Apple's reason in the runbook." : "Nothing to do unless it lasts."
        )
    }

    private func incident(
        of states: [StatusFacts.LaneState],
        _ kind: Incident.Kind,
        title: String,
        since: Int64,
        lost: Int,
        refused: Int = 0,
        detail: String? = nil,
        action: String,
        severity: Incident.Severity = .critical
    ) -> Incident {
        let counts = states.compactMap(\.waiting)
        let waiting = counts.count == states.count ? counts.reduce(0, +) : nil
        return Incident(
            kind: kind,
            severity: severity,
            title: title,
            apps: Set(states.map(\.lane.app)).sorted(),
            environments: Set(states.map(\.lane.environment.rawValue)).sorted(),
            since: since,
            waiting: waiting,
            lost: lost + refused,
            effect: StatusSummary.effect(waiting: waiting, lost: lost, refused: refused),
            detail: detail,
            action: action
        )
    }

    /// Returns the effect of a lane that sends nothing.
    static func effect(waiting: Int?, lost: Int, refused: Int = 0) -> String {
        let pushes = waitingText(waiting)
        guard let losses = lossText(lost, refused: refused) else { return pushes + ", none is lost." }
        return "\(pushes); \(losses)."
    }

    /// Returns the numbers of pushes that have ended without being delivered; nil without any.
    private static func lossText(_ lost: Int, refused: Int) -> String? {
        guard lost > 0 || refused > 0 else { return nil }
        let ended = lost == 1 ? "has expired or was abandoned" : "have expired or were abandoned"
        let parts = [
            lost > 0 ? "\(StatusText.count(lost)) \(ended)" : nil,
            refused > 0 ? "\(StatusText.count(refused)) \(refused == 1 ? "was" : "were") refused" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func waitingText(_ waiting: Int?) -> String {
        switch waiting {
        case nil: "The number of waiting pushes is not known"
        case 0?: "No push waits"
        case 1?: "1 push waits"
        case let count?: "\(StatusText.count(count)) pushes wait"
        }
    }

    /// Returns the apps of lanes, with the environment of those that have further lanes.
    private func names(of states: [StatusFacts.LaneState]) -> String {
        let lanes = states.map(\.lane)
        let names = Set(lanes.map(\.app)).sorted().flatMap { app -> [String] in
            let own = lanes.filter { $0.app == app }
            let isWhole = own.count == facts.lanes.filter { $0.lane.app == app }.count
            return isWhole ? [app] : own.map { "\(app) (\($0.environment.rawValue))" }
        }
        return StatusText.list(names)
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

    /// Returns the title for some apps.
    fileprivate func title(_ apps: String) -> String {
        switch self {
        case .appleUnreachable: "Apple cannot be reached for \(apps)"
        case .connectionsReset: "Connections to Apple are reset for \(apps)"
        case .tlsIntercepted: "The server that answers for Apple is not Apple's, for \(apps)"
        case .appleSilent: "Apple does not answer for \(apps)"
        case .keyRefused: "Apple refuses the key of \(apps)"
        case .tokensRefused: "Apple refuses the device tokens of \(apps)"
        case .appleErrors: "Apple answers with errors for \(apps)"
        default: "Nothing is delivered for \(apps)"
        }
    }

    /// Returns the remedy; an outage that is lasting needs another one than a short one.
    fileprivate func action(_ reasons: [String], isLasting: Bool) -> String {
        switch self {
        case .appleUnreachable where isLasting:
            "Test the connection from the relay's machine with martlet doctor, and see"
                + " https://developer.apple.com/system-status/."
        case .connectionsReset where isLasting:
            "Look for a firewall or proxy that resets connections, and see https://developer.apple.com/system-status/."
        case .appleSilent where isLasting:
            "Look for a firewall that drops packets, and see https://developer.apple.com/system-status/."
        case .appleErrors where isLasting: "See https://developer.apple.com/system-status/; the relay continues to try."
        case .appleUnreachable, .connectionsReset, .appleSilent, .appleErrors: "Nothing to do unless it lasts."
        case .tlsIntercepted: "Let the relay's machine connect to Apple without a proxy or firewall that ends TLS."
        case .keyRefused where reasons == [APNsReason.tooManyProviderTokenUpdates.rawValue]:
            "Find the other services that sign with this key: their tokens change too often."
        case .keyRefused:
            "Compare key-id, team-id and the key file with the developer account, check the clock, and reload."
        case .tokensRefused:
            "Find the back end that sends tokens of the other environment, pause the lane, and purge it."
        default: "Look up the reason in the runbook."
        }
    }
}
