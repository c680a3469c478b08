// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A problem of a relay, with its scope, its effect on pushes and its remedy.
struct Incident: Sendable, Hashable {
    enum Severity: String, Sendable, CaseIterable, Comparable {
        /// Pushes are not accepted or not delivered.
        case critical
        /// An operator has to act, or pushes wait because an operator wanted it.
        case warning
        /// A state that an operator should know of.
        case notice

        static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        /// The place among the severities, worst first.
        var rank: Int { Severity.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The kinds of problem, in the order in which they are shown when nothing else makes one of them worse.
    enum Kind: String, Sendable, CaseIterable {
        case dataDamaged = "data-damaged"
        case databaseAway = "database-away"
        case diskFull = "disk-full"
        case notStoring = "not-storing"
        case storeSilent = "store-silent"
        case queueFull = "queue-full"
        case appleUnreachable = "apple-unreachable"
        case connectionsReset = "connections-reset"
        case tlsIntercepted = "tls-intercepted"
        case appleSilent = "apple-silent"
        case keyRefused = "key-refused"
        case tokensRefused = "tokens-refused"
        case appleErrors = "apple-errors"
        case laneDown = "lane-down"
        case diskLow = "disk-low"
        /// Lanes send pushes of which Apple accepts none.
        case fails
        /// Accepted pushes expire before they can be delivered.
        case pushesExpire = "pushes-expire"
        /// Changes of surfaces reach Apple late.
        case surfacesLate = "surfaces-late"
        /// Apple refuses broadcasts of surfaces.
        case broadcastsRefused = "broadcasts-refused"
        case draining
        case paused
        case certificateExpires = "certificate-expires"
        case callerExpires = "caller-expires"
        case configurationRejected = "configuration-rejected"
        case webhookFailing = "webhook-failing"
        case uncleanEnd = "unclean-end"
        case relayMissing = "relay-missing"
        case duplicateName = "duplicate-name"
        case fleetOutdated = "fleet-outdated"
        case damagedPushes = "damaged-pushes"
        case deadLetters = "dead-letters"
        case retrying
        case outageOver = "outage-over"
        case clockJumped = "clock-jumped"

        /// The place among the kinds.
        var rank: Int { Kind.allCases.firstIndex(of: self) ?? 0 }

        /// Whether the relay refuses all new pushes because of the problem.
        fileprivate var refusesPushes: Bool {
            switch self {
            case .dataDamaged, .databaseAway, .diskFull, .notStoring, .storeSilent, .queueFull, .draining: true
            default: false
            }
        }
    }

    var kind: Kind
    /// The kind that an outage had before it was over; nil for a problem that lasts.
    var formerKind: Kind?
    var severity: Severity
    /// The problem and its scope, as a sentence without a final period.
    var title: String
    var apps: [String] = []
    var environments: [String] = []
    /// The time since which the problem lasts, in milliseconds since 1970; nil if it is not known.
    var since: Int64?
    /// The number of pushes that wait because of the problem; nil if it is not known or no push waits for its end.
    var waiting: Int?
    /// The number of accepted pushes that have expired, were abandoned or were refused since the problem began; nil if
    /// it is not known.
    var lost: Int? = 0
    /// The effect on pushes, as sentences; empty if there is none.
    var effect = ""
    /// The last error or Apple's reason.
    var detail: String?
    /// The remedy, as sentences.
    var action: String

    /// The heading of the article <doc:Runbook> about the problem.
    var runbook: String {
        switch formerKind ?? kind {
        case .dataDamaged, .databaseAway, .diskFull, .notStoring: "MartletRelayCannotStore"
        case .storeSilent: "MartletRelayDiskSlow"
        case .diskLow: "MartletRelayDiskLow"
        case .queueFull: "MartletRelaySheds"
        case .appleUnreachable, .connectionsReset, .tlsIntercepted, .keyRefused, .appleErrors, .laneDown, .outageOver:
            "MartletRelayLaneDown"
        case .appleSilent: "MartletRelayNoAnswers"
        case .tokensRefused: "MartletRelayCircuitOpen"
        case .fails, .broadcastsRefused: "MartletRelayRefusals"
        case .pushesExpire: "MartletRelayPushesExpire"
        case .surfacesLate: "MartletRelaySurfacesLate"
        case .draining, .relayMissing, .duplicateName, .fleetOutdated: "MartletRelayUnreachable"
        case .uncleanEnd: "MartletRelayRestarts"
        case .paused: "MartletRelayLanePaused"
        case .callerExpires: "MartletRelayCallerExpires"
        case .certificateExpires: "MartletRelayCertificateExpires"
        case .configurationRejected: "MartletRelayConfigurationRejected"
        case .webhookFailing: "MartletRelayWebhookFails"
        case .damagedPushes, .deadLetters: "MartletRelayDeadLetters"
        case .retrying: "MartletRelayPushesRetried"
        case .clockJumped: "MartletRelayProviderTokenOld"
        }
    }

    /// Returns whether the problem is shown before another one.
    ///
    /// At the same severity, a relay that refuses all pushes is the worst problem. Then a loss of pushes decides,
    /// production before development, the number of lost pushes, and the number of pushes that wait. A problem without
    /// an environment, such as dead letters, may be one of production.
    func isWorse(than other: Incident) -> Bool {
        if severity != other.severity { return severity < other.severity }
        return rank.lexicographicallyPrecedes(other.rank)
    }

    /// The numbers that are compared with those of other problems of the same severity; lower ones are worse.
    private var rank: [Int] {
        let (lost, waiting) = (max(0, lost ?? 0), max(0, waiting ?? 0))
        let isInDevelopment = environments == [PushEnvironment.development.rawValue]
        return [
            kind.refusesPushes ? 0 : 1, lost > 0 ? 0 : 1, isInDevelopment ? 1 : 0, -lost, -waiting, kind.rank,
        ]
    }

    /// Returns the problem with the time since which it lasts, as a sentence, at a time in milliseconds since 1970.
    func headline(at now: Int64) -> String {
        let time = since.map { " since \(StatusText.time($0, at: now)) (\(StatusText.duration(now - $0)))" } ?? ""
        return title + time + "."
    }

    /// Returns the whole text for people.
    func text(at now: Int64) -> String {
        headline(at: now) + (effect.isEmpty ? "" : " " + effect) + " " + action + (detail.map { " (\($0))" } ?? "")
    }

    /// Returns the incident for the status.
    func json(at now: Int64) -> JSONValue {
        .members([
            "kind": .string(kind.rawValue), "severity": .string(severity.rawValue), "title": .string(title),
            "scope": ["apps": .strings(apps), "environments": .strings(environments)], "since": .whole(since),
            "waiting": .whole(waiting), "lost": .whole(lost), "effect": .string(effect),
            "detail": detail.map { .string($0) }, "action": .string(action), "runbook": .string(runbook),
            "text": .string(text(at: now)),
        ])
    }
}
