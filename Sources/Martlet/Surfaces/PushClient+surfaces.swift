public import LiveSurfaces
public import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushClient {
    /// Sends a snapshot as the push that its kind and destination require.
    ///
    /// A notification, or a Live Activity sent to a device, is sent as an alert with priority 10; a Live Activity to
    /// its own token or a channel with priority 5, and with 10 when it starts; any other kind as a background push that
    /// contains the whole snapshot under the name `surfaceSnapshot`. All are stored for an hour, except broadcasts,
    /// which channels without storage do not store.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot, which is first checked against every rule of the contract.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: The differences from the defaults of the kind.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt; accepted does not mean delivered.
    /// - Throws: ``APNsError``, with the code `invalid` when the snapshot violates a rule or is of another kind than
    ///   the destination needs.
    @discardableResult
    public func send(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery(),
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let id = try delivery.id(of: snapshot, to: destination)
        switch try plan(for: snapshot, to: destination, topic: topic, delivery, id) {
        case .device(let notification, let token):
            return try await send(notification, to: token, topic: topic, options: options)
        case .activity(let activity, let event, let address):
            let chosen = delivery.timestamp
            return try await withSlot(event, for: address, chosen: chosen, options) { slot throws(APNsError) in
                switch try request(for: activity, to: destination, topic: topic, delivery, id, at: slot.date) {
                case .push(let notification, let token):
                    let push = try push(notification, to: token, topic: topic, options: options, after: slot.delay)
                    return try await pool.send(push).receipt
                case .broadcast(let broadcast):
                    return try await send(broadcast, id: id, options: options, after: slot.delay).receipt
                }
            }
        }
    }

    /// Returns the request that ``send(_:to:topic:delivery:options:)`` would send, without sending it.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: The differences from the defaults of the kind.
    /// - Returns: The request, with the findings of the lint rules.
    /// - Throws: ``APNsError`` with the code `invalid` when the snapshot violates a rule or is of another kind than the
    ///   destination needs.
    public func describe(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery()
    ) throws(APNsError) -> RequestDescription {
        let id = try delivery.id(of: snapshot, to: destination)
        switch try plan(for: snapshot, to: destination, topic: topic, delivery, id) {
        case .device(let notification, let token):
            return try describe(notification, to: token, topic: topic)
        case .activity(let activity, let event, _):
            // A description uses no timestamp that a push could be assigned.
            let now = Date(secondsSince1970: event.timestamp(at: clock.microsecondsSince1970()))
            let timestamp = delivery.timestamp ?? now
            switch try request(for: activity, to: destination, topic: topic, delivery, id, at: timestamp) {
            case .push(let notification, let token): return try describe(notification, to: token, topic: topic)
            case .broadcast(let broadcast): return describe(broadcast)
            }
        }
    }

    /// The kind of push for a snapshot.
    enum SurfacePlan {
        /// A push to a device, which has no timestamp.
        case device(PushNotification, DeviceToken)
        /// A push to a Live Activity, which is created when its timestamp is known.
        case activity(LiveActivitySnapshot, ActivityTimestamps.Event, ActivityTimestamps.Address)
    }

    /// A push to a Live Activity.
    enum ActivityRequest {
        case push(PushNotification, DeviceToken)
        case broadcast(Broadcast)
    }

    /// The expiration of pushes to surfaces, which are of no use after an hour.
    private var inAnHour: Expiration { Expiration(secondsSince1970: clock.secondsSince1970() + 3_600) }

    /// Checks a snapshot and selects the kind of push.
    func plan(
        for unchecked: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(APNsError) -> SurfacePlan {
        let snapshot: SurfaceSnapshot
        do throws(SurfaceError) {
            snapshot = try unchecked.validated(categories: delivery.categories)
        } catch {
            throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
        }
        if case .device(let token) = destination {
            let notification = try writing(for: id) { () throws(PayloadError) in
                try silentOrAlert(of: snapshot, delivery, id)
            }
            return .device(notification, token)
        }
        guard case .liveActivity(let activity) = snapshot, let (event, address) = destination.activity(of: topic) else {
            let error = WrongSurfaceKind(wanted: .liveActivity, found: snapshot.kind)
            throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
        }
        return .activity(activity, event, address)
    }

    /// Creates the push to a Live Activity for a snapshot.
    func request(
        for activity: LiveActivitySnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        _ delivery: SurfaceDelivery,
        _ id: APNsID,
        at timestamp: Date
    ) throws(APNsError) -> ActivityRequest {
        try writing(for: id) { () throws(PayloadError) -> ActivityRequest in
            switch destination {
            case .device(let token):
                .push(alert(activity.alertPayload, delivery, id), token)
            case .activityStart(let token):
                .push(try start(of: activity, at: timestamp, delivery, id), token)
            case .activity(let token), .activityEnd(let token, _):
                .push(try change(of: activity, at: timestamp, destination, delivery, id), token)
            case .channel(let channel), .channelEnd(let channel, _):
                .broadcast(
                    try Broadcast(
                        update(of: activity, destination, delivery),
                        on: channel,
                        of: topic,
                        timestamp: timestamp,
                        priority: (delivery.priority ?? .powerAware).priority,
                        expiration: delivery.expiration ?? .attemptOnce
                    )
                )
            }
        }
    }

    /// Returns the push for a device: an alert, or a silent update of a surface.
    private func silentOrAlert(
        of snapshot: SurfaceSnapshot,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        switch snapshot {
        case .notification(let notification): return alert(notification.payload, delivery, id)
        case .liveActivity(let activity): return alert(activity.alertPayload, delivery, id)
        default: break
        }
        return .background(
            custom: try CustomData(json: JSONValue.object([.init("surfaceSnapshot", snapshot.json)]).encoded()),
            expiration: delivery.expiration ?? inAnHour,
            collapseID: delivery.collapseID,
            id: id
        )
    }

    private func alert(_ payload: JSONValue, _ delivery: SurfaceDelivery, _ id: APNsID) -> PushNotification {
        .opaque(
            payload.encoded(),
            pushType: .alert,
            priority: (delivery.priority ?? .immediate).priority,
            expiration: delivery.expiration ?? inAnHour,
            collapseID: delivery.collapseID,
            id: id
        )
    }

    private func start(
        of activity: LiveActivitySnapshot,
        at timestamp: Date,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        let start = try LiveActivityStart(
            attributesType: delivery.attributesType,
            attributes: activity.attributes.json,
            state: activity.contentState.json,
            alert: LiveActivityAlert(title: .plain(activity.surface.title), body: .plain(activity.surface.body)),
            reach: delivery.reach,
            staleDate: delivery.staleDate,
            relevanceScore: delivery.relevanceScore
        )
        return try .liveActivity(
            start,
            timestamp: timestamp,
            priority: delivery.priority ?? .immediate,
            expiration: delivery.expiration ?? inAnHour,
            id: id
        )
    }

    private func change(
        of activity: LiveActivitySnapshot,
        at timestamp: Date,
        _ destination: SurfaceDestination,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        try .liveActivity(
            update(of: activity, destination, delivery),
            timestamp: timestamp,
            priority: delivery.priority ?? .powerAware,
            expiration: delivery.expiration ?? inAnHour,
            id: id
        )
    }

    /// Returns the update of an activity, or its end where the destination is an end.
    private func update(
        of activity: LiveActivitySnapshot,
        _ destination: SurfaceDestination,
        _ delivery: SurfaceDelivery
    ) throws(PayloadError) -> LiveActivityUpdate {
        switch destination {
        case .activityEnd(_, let dismissal), .channelEnd(_, let dismissal):
            try .end(activity.contentState.json, dismissal: dismissal)
        case .device, .activityStart, .activity, .channel:
            try .update(
                activity.contentState.json,
                staleDate: delivery.staleDate,
                relevanceScore: delivery.relevanceScore
            )
        }
    }
}
