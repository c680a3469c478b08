// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The incidents of pushes that expire, and the texts about losses whose number is not final.
extension StatusSummary {
    /// The incidents of lanes whose pushes expire although no other problem explains it, one for each lane.
    var expiryIncidents: [Incident] {
        facts.lanes.compactMap { state in
            guard let expiry = state.expiry else { return nil }
            let name = names(of: [state])
            let count = expiry.count.counted("push has", "pushes have")
            return Incident(
                kind: .pushesExpire,
                severity: .warning,
                title: "Accepted pushes of \(name) expire",
                apps: [state.lane.app],
                environments: [state.lane.environment.rawValue],
                since: expiry.since,
                waiting: state.waiting,
                lost: expiry.count,
                effect: "\(count) expired, \(StatusText.rate(expiry.rate)) a second in the last minute."
                    + " \(StatusSummary.waitingText(state.waiting)).",
                detail: state.retryReason ?? state.failing?.reason,
                action: "Find out why pushes wait, and send again what still matters."
            )
        }
    }

    /// Returns whether all losses of lanes since the start of their problems are counted for them.
    ///
    /// The end of an expired push is stored only while the storage works. Apple may have accepted one in flight.
    func isCounted(_ states: [LaneFacts]) -> Bool {
        facts.store == nil && facts.commitSince == nil
            && states.allSatisfy { $0.lostElsewhere == 0 && $0.expiredInFlight == 0 }
    }

    /// Returns sentences about pushes whose loss is not known, or counted for another problem; empty without any.
    static func openText(_ states: [LaneFacts]) -> String {
        let open = states.map(\.expiredInFlight).reduce(0, +)
        let unanswered = open.counted("push in flight has", "pushes in flight have")
        return (open > 0 ? " \(unanswered) expired, and Apple has not answered." : "")
            + elsewhereText(states.map(\.lostElsewhere).reduce(0, +))
    }

    /// Returns a sentence about losses that are counted for another problem; empty without any.
    static func elsewhereText(_ count: Int) -> String {
        guard count > 0 else { return "" }
        return " \(count.counted("push was", "pushes were")) lost at the same time because of another problem."
    }
}

/// The losses of problems that were over at about the same time, as text.
struct PastLosses {
    /// The accepted pushes that were lost.
    var count: Int { losses.total }
    private let losses: LossCounts
    private let notStored: Int
    private let others: Int
    private let kind: StatusWatch.PastOutage.Kind
    private let isCounted: Bool
    private let isDatabase: Bool

    /// Creates the losses; they are counted when the ends of all pushes that expired in that time are stored.
    init(_ outages: [StatusWatch.PastOutage], isCounted: Bool, isDatabase: Bool) {
        losses = outages.map(\.losses).reduce(LossCounts(), +)
        notStored = outages.map(\.notStored).reduce(0, +)
        others = outages.map(\.lostElsewhere).reduce(0, +)
        kind = outages.first?.kind ?? .outage
        self.isCounted = isCounted
        self.isDatabase = isDatabase
    }

    private var isNothingLost: Bool { count == 0 && isCounted && others == 0 }

    /// Returns the effect of problems that lasted for a time in milliseconds.
    func effect(after time: Int64) -> String {
        let duration = StatusText.exactDuration(time)
        var effects = [kind == .stop ? "It did not run for at most \(duration)" : "It lasted \(duration)"]
        var numbers: [String] = []
        if notStored > 0 {
            let place = isDatabase ? " by this relay" : ""
            numbers.append(notStored.counted("push was", "pushes were") + " refused with 503" + place)
        }
        if let text = losses.text { numbers.append(text) }
        if isNothingLost { numbers.append("no accepted push was lost") }
        if !numbers.isEmpty { effects.append(numbers.joined(separator: ", ")) }
        let open = isCounted ? "" : " Pushes that expired in that time are still being counted."
        return effects.joined(separator: "; ") + "." + StatusSummary.elsewhereText(others) + open
    }

    var action: String {
        if losses.expired > 0 { return "Send again what still matters; the status page lists expired pushes." }
        if count > 0 { return "Send again what still matters." }
        if notStored > 0 { return "Nothing to do if clients have sent them again." }
        return isNothingLost ? "Nothing to do." : "See this number again when the count is complete."
    }
}

extension StatusWatch.PastOutage {
    /// Returns the title of the incident for lanes or the storage.
    func title(_ scope: String) -> String {
        switch kind {
        case .outage: "The outage of \(scope) \(isInterrupted ? "may be" : "is") over"
        case .pause: "The pause of \(scope) is over"
        case .failing: "Apple \(isInterrupted ? "may accept" : "accepts") pushes of \(scope) again"
        case .expiry: "The expiry of pushes of \(scope) is over"
        case .stop: "This relay runs again"
        }
    }
}
