internal import Outbox

/// What a relay has counted since it was started.
struct RelayCounts {
    /// Pushes that were accepted, by app.
    var accepted: [String: Int] = [:]
    /// Pushes that were handed in again with the same identifier, by app.
    var duplicates: [String: Int] = [:]
    /// Pushes that were not taken for want of room.
    var shed = 0
    /// Requests about channels that Apple has accepted.
    var channelRequests = 0
    /// Tries to send, by lane.
    var sent: [Lane: Int] = [:]
    /// How pushes ended, by lane.
    var outcomes: [Lane: [Outcome.State: Int]] = [:]

    mutating func ended(_ outcome: Outcome, _ lane: Lane) {
        outcomes[lane, default: [:]][outcome.state, default: 0] += 1
    }
}
