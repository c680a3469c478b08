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

    /// What is to be done.
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

    /// What has become of a push, to be told to whoever waits for it once it is written down.
    struct Ended: Equatable {
        var push: ClaimedPush
        var outcome: Outcome
    }
}
