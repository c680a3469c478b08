// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Decides which outages of lanes and refused pushes are logged.
struct DeliveryLog {
    private(set) var outages: [Lane: OutageLog] = [:]
    /// The pushes that have expired or were abandoned.
    var losses = LossLog()
    /// The limits of log lines about postponed pushes.
    private var postponements: [Lane: GrowingThrottle] = [:]

    /// Logs that Apple has refused a push for now; at growing intervals, since usually many pushes are refused.
    mutating func refused(
        _ push: ClaimedPush,
        _ result: SendResult,
        _ decision: DeliveryPolicy.Decision?,
        at now: Int64,
        to log: Logger
    ) {
        guard case .refused = result, case .settle(let settlement) = decision,
            case .postponed(let time, _, _) = settlement.change,
            let omitted = postponements[push.push.lane, default: GrowingThrottle()].take(at: now)
        else { return }
        log.postponed(push, result, wait: time - now, omitted: omitted)
    }

    /// Logs the beginning or the end of an outage of a lane; without a result, only time has passed.
    mutating func update(
        _ lane: Lane,
        _ state: DeliveryLane,
        after result: SendResult?,
        at now: Int64,
        to log: Logger
    ) {
        let changes = outages[lane, default: OutageLog()].update(
            state.problem(at: now),
            state.outage,
            isAfterAttempt: result != nil
        )
        for change in changes { log.outage(change, of: lane, inFlight: state.inFlight, after: result, at: now) }
    }

    /// Logs how many pushes have expired or were abandoned; at a shutdown also those of the last minute.
    mutating func lost(at now: Int64, to log: Logger, isLast: Bool = false) {
        for losses in losses.take(at: now, isLast: isLast) { log.lost(losses) }
    }

    /// Logs the end of an outage of a lane in which another relay delivers.
    mutating func recovered(_ lane: Lane, at now: Int64, to log: Logger) {
        let since = outages.removeValue(forKey: lane)?.downSince
        log.outage(.recovered(since: since), of: lane, inFlight: 0, after: nil, at: now)
    }
}
