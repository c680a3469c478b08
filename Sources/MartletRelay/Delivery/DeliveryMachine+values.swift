// SPDX-License-Identifier: Apache-2.0

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

    struct ClaimAction: Equatable {
        var lane: Lane
        var urgency: Urgency
        var limit: Int
    }
}

extension ClaimedPush {
    /// Returns the outcome of a push that must not be sent, because it is damaged, has moved, or has expired; otherwise
    /// nil.
    func outcomeWithoutSending(at now: Int64) -> Outcome? {
        // Its expiration may be what is damaged, so that one is not looked at.
        if isDamaged {
            return Outcome(.dead, reason: Outcome.damagedReason, attempts: attempts, unknownTries: unknownTries)
        }
        if hasMoved {
            return Outcome(.cancelled, reason: Outcome.movedReason, attempts: attempts, unknownTries: unknownTries)
        }
        guard push.expires(by: now) else { return nil }
        return Outcome(.expired, attempts: attempts, unknownTries: unknownTries)
    }
}
