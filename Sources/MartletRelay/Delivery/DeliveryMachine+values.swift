// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

extension DeliveryMachine {
    /// Limits of the pushes in memory.
    struct Limits: Sendable {
        /// The maximum number of pushes in flight or being settled, in all lanes together.
        var inFlight = 4_000
        /// The maximum number of pushes in flight in one lane.
        var inFlightPerLane = 1_000
        /// The maximum number of claimed pushes of one lane and urgency.
        var claimedAhead = 500
    }

    /// The actions that the machine asks for.
    struct Actions: Equatable {
        var claims: [ClaimAction] = []
        var sends: [ClaimedPush] = []
        var settlements: [Settlement] = []
        /// The lanes whose provider tokens are to be replaced.
        var renewals: [Lane] = []
    }

    /// The identity of a settlement: a push can be claimed again while the settlement of an earlier claim is repeated.
    struct SettlementKey: Hashable {
        let number: Int64
        let claim: Int64

        init(_ settlement: Settlement) {
            number = settlement.number
            claim = settlement.claim
        }
    }

    struct ClaimAction: Equatable {
        var lane: Lane
        var urgency: Urgency
        var limit: Int
    }
}

extension ClaimedPush {
    /// Returns the outcome of a push that must not be sent, because it is damaged, is for a former user of the phone,
    /// has expired, or has headers that break a rule; otherwise nil.
    func outcomeWithoutSending(at now: Int64) -> Outcome? {
        // Its other parts may be what is damaged, so they are not looked at.
        if isDamaged {
            return Outcome(.dead, reason: Outcome.damagedReason, attempts: attempts, unknownTries: unknownTries)
        }
        if hasFormerUser {
            return Outcome(.cancelled, reason: Outcome.formerUserReason, attempts: attempts, unknownTries: unknownTries)
        }
        if push.expires(by: now) { return Outcome(.expired, attempts: attempts, unknownTries: unknownTries) }
        guard let reason = push.headerRefusal else { return nil }
        return Outcome(
            .refused,
            status: reason.status,
            reason: reason.rawValue,
            attempts: attempts,
            unknownTries: unknownTries
        )
    }
}

extension OutboxPush {
    /// The reason not to send a push because of its headers; nil for a push that may be sent.
    ///
    /// The relay accepts no such push, but back ends store pushes in the database without these checks. A push with a
    /// value that HTTP/2 cannot carry would be sent again without end, because the peer resets its stream without an
    /// answer.
    var headerRefusal: APNsReason? {
        switch destination {
        case .device:
            return PushLint.firstReasonNotToSend(headers: headers)
        case .channel(let channel, let bundle):
            // Apple documents no collapse identifier for broadcasts, so no rule checks it.
            guard headers.collapseID?.isHeaderValue != false else { return .badCollapseID }
            return PushLint.firstReasonNotToSend(broadcastTo: bundle, channel: channel.rawValue, headers: headers)
        }
    }
}
