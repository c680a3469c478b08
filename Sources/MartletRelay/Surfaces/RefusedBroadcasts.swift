// SPDX-License-Identifier: Apache-2.0

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
        /// The time of the first refusal since the last broadcast that Apple has accepted, in milliseconds since 1970.
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

    /// Returns the refusals of an app, those that began first at the start.
    func recent(of app: String, at now: Int64) -> [Refusal] {
        refusals.values.filter { $0.app == app && now - $0.last < Self.lifetime }
            .sorted { ($0.since, $0.surface) < ($1.since, $1.surface) }
    }

    /// Records that Apple has refused a broadcast.
    mutating func add(_ reason: APNsReason?, of stored: StoredSurface, at now: Int64) {
        refusals = refusals.filter { now - $0.value.last < Self.lifetime }
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
