// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The results of broadcasts.
extension SurfaceRunner {
    /// Records the result of a broadcast, and logs it if Apple has refused the broadcast.
    func record(_ result: SessionResult, ofBroadcastOf stored: StoredSurface) async {
        switch SurfacePushResult(result) {
        case .accepted: counts.refusedBroadcasts.remove(stored)
        case .refused: await recordRefusal(result, of: stored)
        case .unregistered, .notSent: break
        }
    }

    private func recordRefusal(_ result: SessionResult, of stored: StoredSurface) async {
        let app = stored.surface.app
        // Only the outcome has the reason.
        let status = try? await context.outbox.status(of: result.id, of: app)
        let reason = status?.outcome?.reason.map { APNsReason(rawValue: $0) }
        counts.problems[app, default: 0] += 1
        counts.refusedBroadcasts.add(reason, of: stored, at: context.now)
        var throttle = refusalThrottles[stored.number] ?? GrowingThrottle()
        let omitted = throttle.take(at: context.now)
        refusalThrottles.store([stored.number: throttle])
        guard let omitted else { return }
        context.log.warning(
            .surfaceBroadcastRefused,
            omitted: omitted,
            [
                "app": .string(app), "surface": .string(stored.surface.id), "status": .whole(result.status),
                "reason": reason.map { .string($0.rawValue) }, "remedy": reason.map { .string($0.broadcastRemedy) },
            ]
        )
    }
}
