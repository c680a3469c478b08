// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// The surfaces whose last broadcast Apple has refused.
struct RefusedBroadcasts: Sendable {
    /// The refusal of the last broadcast of a surface.
    struct Refusal: Sendable, Hashable {
        let app: String
        /// The identifier of the surface.
        let surface: String
        /// The identifier of the channel, which the surface had then; nil for none.
        let channel: String?
        /// Apple's reason; nil if it is not known.
        let reason: APNsReason?
        /// The time of the first known refusal since the last broadcast that Apple has accepted, in milliseconds since
        /// 1970; after a restart, and on a relay that takes over, that of the last one before.
        let since: Int64
        /// The time of the last refusal, in milliseconds since 1970.
        let last: Int64
    }

    /// The maximum number of surfaces; others are only in the log.
    private static let limit = 100
    /// The time after the last refusal for which it counts, in milliseconds: a state is broadcast again before.
    private static let lifetime: Int64 = 7_200_000

    /// The refusals by ``StoredSurface/number``.
    private var refusals: [Int64: Refusal] = [:]

    /// Returns whether a refusal counts, by its time and the current one in milliseconds since 1970.
    static func isRecent(_ time: Int64, at now: Int64) -> Bool { now - time < lifetime }

    /// Returns the refusals of an app, those that began first at the start.
    func recent(of app: String, at now: Int64) -> [Refusal] {
        refusals.values.filter { $0.app == app && Self.isRecent($0.last, at: now) }
            .sorted { ($0.since, $0.surface) < ($1.since, $1.surface) }
    }

    /// Records that Apple has refused a broadcast.
    mutating func add(_ reason: APNsReason?, of stored: StoredSurface, at now: Int64) {
        refusals = refusals.filter { Self.isRecent($0.value.last, at: now) }
        let earlier = refusals[stored.number]
        guard earlier != nil || refusals.count < Self.limit else { return }
        refusals[stored.number] = Refusal(
            app: stored.surface.app,
            surface: stored.surface.id,
            channel: stored.surface.channel,
            reason: reason,
            since: earlier?.since ?? now,
            last: now
        )
    }

    /// Records that Apple has accepted a broadcast.
    mutating func remove(_ stored: StoredSurface) {
        refusals[stored.number] = nil
    }

    /// Forgets the refusal of a surface that was withdrawn, or has another channel.
    mutating func update(_ stored: StoredSurface) {
        guard let refusal = refusals[stored.number] else { return }
        if stored.withdrawnAt != nil || stored.surface.channel != refusal.channel { refusals[stored.number] = nil }
    }
}

extension StoredSurface {
    /// Returns the refusal of the last broadcast of the current content, from its stored outcome.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: Apple's reason, nil if it is not known, and the time in milliseconds since 1970; nil if Apple has not
    ///   refused the broadcast.
    /// - Throws: ``OutboxError`` when the outcome cannot be read.
    func broadcastRefusal(
        in outbox: any OutboxStore,
        at now: Int64
    ) async throws(OutboxError) -> (reason: APNsReason?, time: Int64)? {
        guard let content, let channel = content.channel else { return nil }
        let change = content.change(of: .liveActivity, until: ContentChange(of: self))
        let state = ActivitySession.Desired(generation: 0, isUrgent: false, changedAt: change.changedAt / 1_000)
        for age in [state.broadcastAge(at: now / 1_000), 0] {
            guard let id = broadcastID(on: channel, generation: change.revision, age: age),
                let status = try await outbox.status(of: id, of: surface.app)
            else { continue }
            guard case .ended(let outcome, let time) = status.state, outcome.state == .refused else { return nil }
            return (outcome.reason.map { APNsReason(rawValue: $0) }, time)
        }
        return nil
    }
}

extension APNsReason {
    /// The remedies for refused broadcasts of surfaces, by the reasons that follow from the channel or the content.
    private static let broadcastRemedies: [APNsReason: String] = [
        .badExpirationDate: "store the surface with message-storage-policy 0, with which its channel was created, or"
            + " with a channel that was created with 1",
        .channelNotRegistered: "create a channel in the same environment, and store the surface with it, so that the"
            + " relay starts its Live Activities again",
        .badChannelID: "store the surface with the channel exactly as Apple has returned it",
        .missingChannelID: "store the surface with the channel exactly as Apple has returned it",
        .featureNotEnabled: "enable the broadcast capability of the app in the developer portal",
        .topicMismatch: "store the surface with the bundle-id of the channel, or configure a key or a certificate that"
            + " is for it",
        .topicDisallowed: "store the surface with the bundle-id of the channel",
        .badPath: "store the surface with the bundle-id of the channel",
        .payloadTooLarge: "store the surface with a shorter snapshot",
    ]

    /// The remedy for a refused broadcast of a surface; for another reason, its explanation.
    var broadcastRemedy: String {
        APNsReason.broadcastRemedies[self] ?? explanation ?? "see Apple's documentation of the reason"
    }
}
