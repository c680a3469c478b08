// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The wait after a change of a phone's user.
extension Dispatcher {
    /// The interval between checks whether this relay still holds claimed pushes.
    private static let holdInterval = Duration.milliseconds(10)
    /// The maximum number of these checks, for the hold time of a lane, the start timeout of its client, and another 50
    /// milliseconds for their timers.
    private static let holdChecks = 55
    /// The maximum number of checks whether this relay's claims have ended: five seconds in total, because a store that
    /// takes longer fails the claims.
    private static let claimChecks = 500

    /// Waits until no push that was claimed before is passed to a connection any more.
    ///
    /// A claim compares the user of a push with the user of the phone. Claimed pushes are sent or returned within the
    /// hold time of their lane and the start timeout of its client, in every relay that shares the outbox.
    func waitForHeldPushes() async {
        let last = claims.count
        for _ in 0..<Dispatcher.claimChecks where claims.open.contains(where: { $0 <= last }) {
            try? await Task.sleep(for: Dispatcher.holdInterval)
        }
        let isShared = context.sharedOutbox != nil
        for _ in 0..<Dispatcher.holdChecks where isShared || machine.holdsPushes {
            try? await Task.sleep(for: Dispatcher.holdInterval)
        }
    }
}
