// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The starts of outages, which are stored so that a restart of the relay does not change them.
extension Dispatcher {
    /// Reads the outages that an earlier process of the relay has stored, and stores those that have begun or ended.
    ///
    /// A store that fails is tried again by the next call.
    func syncOutages() async {
        for lane in machine.lanes.keys {
            let reader = "outage \(lane.app) \(lane.environment.rawValue)"
            do throws(OutboxError) {
                if let stored = storedOutages[lane] {
                    let start = machine.lanes[lane]?.outageStart ?? 0
                    guard start != stored else { continue }
                    try await context.outbox.records.setCursor(start, of: reader)
                    storedOutages[lane] = start
                } else {
                    let start = try await context.outbox.records.cursor(of: reader)
                    storedOutages[lane] = start
                    if start > 0 { machine.recordEarlierOutage(of: lane, since: min(start, context.now)) }
                }
            } catch {
                return
            }
        }
    }
}
