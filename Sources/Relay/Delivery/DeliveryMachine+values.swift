internal import Outbox

extension DeliveryMachine {
    /// Bounds of what is in memory.
    struct Limits: Sendable {
        /// Pushes on their way or being written down, in all lanes together.
        var inFlight = 4_000
        /// Pushes on their way in one lane.
        var inFlightPerLane = 1_000
        /// Pushes of one lane and urgency that are claimed ahead.
        var claimedAhead = 500
    }

    /// The actions that the machine asks for.
    struct Orders: Equatable {
        var claims: [ClaimOrder] = []
        var sends: [ClaimedPush] = []
        var settlements: [Settlement] = []
    }

    struct ClaimOrder: Equatable {
        var lane: Lane
        var urgency: Urgency
        var limit: Int
    }

    /// A push that has ended, reported to the callers that wait for it once the outcome is stored.
    struct Ended: Equatable {
        var push: ClaimedPush
        var outcome: Outcome
    }
}
