// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The broadcasts of one surface that the relay has stored, so that each is built once and not by each session.
///
/// It is in memory only: the outbox stores no broadcast with the identifier of another one, so that a relay that does
/// not know of it, such as after a restart, sends none twice.
struct SentBroadcasts: Sendable, Hashable {
    private var generation = 0
    /// The identifiers of the broadcasts of the generation.
    private var ids: Set<APNsID> = []
    /// The greatest timestamp of the Live Activities on the channels of the surface, in seconds since 1970.
    private(set) var timestamp: Int64 = 0
    /// The channel that does not exist any more, as Apple has answered to a broadcast of the surface; nil for none.
    var missingChannel: ChannelID?

    /// Returns whether the broadcast with an identifier was sent.
    func contains(_ id: APNsID) -> Bool { ids.contains(id) }

    /// Adds a push with the timestamp of the Live Activities on a channel.
    mutating func add(_ send: SurfacePlan.Send, at time: Int64) {
        timestamp = max(timestamp, time)
        guard case .broadcast(let broadcast) = send.content else { return }
        if broadcast.update.generation != generation {
            generation = broadcast.update.generation
            ids = []
        }
        ids.insert(send.id)
    }

    /// Returns the broadcasts together with those that were added to a copy.
    func merging(_ other: SentBroadcasts) -> SentBroadcasts {
        var merged = generation < other.generation ? other : self
        if generation == other.generation { merged.ids.formUnion(other.ids) }
        merged.timestamp = max(timestamp, other.timestamp)
        return merged
    }
}

/// The result of a broadcast, and its channel.
struct BroadcastResult: Sendable, Hashable {
    let channel: ChannelID
    let result: SessionResult
}

extension SurfacePlan.Send {
    /// The timestamp of a push to Live Activities on a channel, or of the start of one; nil for another push.
    var channelTimestamp: Int64? {
        switch content {
        case .broadcast(let broadcast): broadcast.update.timestamp
        case .start(let timestamp, let channel): channel == nil ? nil : timestamp
        case .update, .end, .notification, .background, .widgets, .control: nil
        }
    }
}

extension StoredSurface {
    /// Returns the identifier of a broadcast, which is the same in each session; nil if it cannot be hashed.
    func id(of broadcast: ActivitySession.Broadcast) -> APNsID? {
        broadcastID(on: broadcast.channel, generation: Int64(broadcast.update.generation), age: broadcast.age)
    }

    /// Returns the identifier of the broadcast of a generation that is due at an age.
    ///
    /// A corrected storage policy makes another broadcast, because Apple may have refused the one before.
    func broadcastID(on channel: SurfaceChannel, generation: Int64, age: Int64) -> APNsID? {
        let place = "broadcast \(generation) \(age) \(channel.id) \(channel.storesBroadcasts)"
        return APNsID(app: surface.app, idempotencyKey: "surface \(number)", place)
    }
}
