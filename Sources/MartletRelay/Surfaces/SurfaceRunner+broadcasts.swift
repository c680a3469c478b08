// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The results of broadcasts.
extension SurfaceRunner {
    /// Records the result of a broadcast, and logs it if Apple has refused the broadcast.
    func record(_ broadcast: BroadcastResult, of stored: StoredSurface) async {
        // The cards of a surface that has got another channel are still on the one before.
        let isCurrent = stored.withdrawnAt == nil && stored.surface.channel == broadcast.channel.rawValue
        switch SurfacePushResult(broadcast.result) {
        case .accepted: if isCurrent { counts.refusedBroadcasts.remove(stored) }
        case .refused: await recordRefusal(broadcast, of: stored, isCurrent: isCurrent)
        case .unregistered, .notSent: break
        }
    }

    private func recordRefusal(_ broadcast: BroadcastResult, of stored: StoredSurface, isCurrent: Bool) async {
        let app = stored.surface.app
        // Only the outcome has the reason.
        let status = try? await context.outbox.status(of: broadcast.result.id, of: app)
        let reason = status?.outcome?.reason.map { APNsReason(rawValue: $0) }
        counts.problems[app, default: 0] += 1
        if isCurrent { counts.refusedBroadcasts.add(reason, of: stored, at: context.now) }
        if reason == .channelNotRegistered { markMissing(broadcast.channel, of: stored) }
        var throttle = refusalThrottles[stored.number] ?? GrowingThrottle()
        let omitted = throttle.take(at: context.now)
        refusalThrottles.store([stored.number: throttle])
        guard let omitted else { return }
        context.log.warning(
            .surfaceBroadcastRefused,
            omitted: omitted,
            [
                "app": .string(app), "surface": .string(stored.surface.id), "status": .whole(broadcast.result.status),
                "reason": reason.map { .string($0.rawValue) }, "remedy": reason.map { .string($0.broadcastRemedy) },
            ]
        )
    }

    /// Restores the refused broadcasts of the next surfaces with channels, once after the relay has begun to lead.
    func restoreRefusals() async throws(OutboxError) -> Duration {
        let start = ContinuousClock.now
        let apps = context.configuration.apps.map { ($0.name, "") }
        let cursors = refusalCursors ?? Dictionary(apps) { first, _ in first }
        refusalCursors = cursors
        guard let (app, channel) = cursors.first else { return SurfaceRunner.idleInterval }
        let (outbox, limit) = (context.outbox, SurfaceRunner.surfaceLimit)
        let found = try await outbox.surfaces.surfacesWithChannel(of: app, after: channel, limit: limit)
        for stored in found {
            guard let refusal = try await stored.broadcastRefusal(in: outbox, at: context.now) else { continue }
            if RefusedBroadcasts.isRecent(refusal.time, at: context.now) {
                counts.refusedBroadcasts.add(refusal.reason, of: stored, at: refusal.time)
            }
            guard refusal.reason == .channelNotRegistered, let channel = stored.surface.channel else { continue }
            markMissing(ChannelID(channel), of: stored)
        }
        refusalCursors?[app] = found.count < limit ? nil : found.last?.surface.channel
        await rest(since: start)
        return .zero
    }

    /// Records that a channel does not exist any more, so that cards on it are replaced once the surface has another.
    private func markMissing(_ channel: ChannelID, of stored: StoredSurface) {
        var sent = broadcasts[stored.number] ?? SentBroadcasts()
        sent.missingChannel = channel
        broadcasts.store([stored.number: sent])
    }
}
