public import APNs
public import LiveSurfaces

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushClient {
    /// Sends a snapshot, as the push that its kind and destination call for.
    ///
    /// A notification, or a Live Activity sent to a device, goes as an alert with priority 10; a Live Activity to its
    /// own token or a channel with priority 5, and with 10 when it starts; any other kind as a background push that
    /// carries the whole snapshot under the name `surfaceSnapshot`. All are kept for an hour, save broadcasts, which
    /// channels without storage do not keep.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot; it is held to every rule of the contract first.
    ///   - destination: Where to, and as what.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: What is to be different from the defaults of the kind.
    ///   - options: What is to be different from the configuration for this push.
    /// - Returns: The receipt; accepted does not mean delivered.
    /// - Throws: ``APNsError``, with the code `invalid` when the snapshot breaks a rule or is of another kind than the
    ///   destination needs.
    @discardableResult
    public func send(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery(),
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let id = try delivery.id(of: snapshot, to: destination)
        let request = try request(for: snapshot, to: destination, topic: topic, delivery, id) {
            (event, address) throws(APNsError) in
            try slot(event, for: address, chosen: delivery.timestamp, options)
        }
        switch request.content {
        case .push(let notification, let token):
            let push = try push(notification, to: token, topic: topic, options: options, after: request.delay)
            return try await pool.send(push).receipt
        case .broadcast(let broadcast):
            return try await send(broadcast, id: id, options: options, after: request.delay).receipt
        }
    }

    /// What ``send(_:to:topic:delivery:options:)`` would send, without sending it.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - destination: Where to, and as what.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: What is to be different from the defaults of the kind.
    /// - Returns: The request, with what the rules have to say about it.
    /// - Throws: ``APNsError``, as sending it does.
    public func describe(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery()
    ) throws(APNsError) -> RequestDescription {
        let id = try delivery.id(of: snapshot, to: destination)
        let now = clock.microsecondsSince1970()
        let request = try request(for: snapshot, to: destination, topic: topic, delivery, id) { event, _ in
            // A description takes no second from the pushes that are sent.
            let timestamp = delivery.timestamp?.secondsSince1970 ?? event.timestamp(at: now)
            return ActivityTimestamps.Slot(timestamp: timestamp, delay: .zero)
        }
        switch request.content {
        case .push(let notification, let token): return try describe(notification, to: token, topic: topic)
        case .broadcast(let broadcast): return describe(broadcast)
        }
    }

    /// The push that a snapshot becomes.
    struct SurfaceRequest {
        enum Content {
            case push(PushNotification, DeviceToken)
            case broadcast(Broadcast)
        }

        var content: Content
        /// The time that it waits before it is sent.
        var delay = Duration.zero
    }

    /// What is worth delivering for an hour, as surfaces are looked at now or not at all.
    private var inAnHour: Expiration { Expiration(secondsSince1970: clock.secondsSince1970() + 3_600) }

    /// The push that a snapshot calls for.
    func request(
        for unchecked: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        _ delivery: SurfaceDelivery,
        _ id: APNsID,
        _ makeSlot: (ActivityTimestamps.Event, ActivityTimestamps.Address) throws(APNsError) -> ActivityTimestamps.Slot
    ) throws(APNsError) -> SurfaceRequest {
        let snapshot: SurfaceSnapshot
        do throws(SurfaceError) {
            snapshot = try unchecked.validated(categories: delivery.categories)
        } catch {
            throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
        }
        guard case .liveActivity(let activity) = snapshot else {
            guard case .device(let token) = destination else {
                let error = WrongSurfaceKind(wanted: .liveActivity, found: snapshot.kind)
                throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
            }
            let push = try writing(for: id) { () throws(PayloadError) in try silentOrAlert(of: snapshot, delivery, id) }
            return SurfaceRequest(content: .push(push, token))
        }
        let slot: ActivityTimestamps.Slot
        if let (event, address) = destination.activity(of: topic) {
            slot = try makeSlot(event, address)
        } else {
            // An alert to a device has no timestamp.
            slot = ActivityTimestamps.Slot(timestamp: 0, delay: .zero)
        }
        let content = try writing(for: id) { () throws(PayloadError) -> SurfaceRequest.Content in
            switch destination {
            case .device(let token):
                .push(alert(activity.alertPayload, delivery, id), token)
            case .activityStart(let token):
                .push(try start(of: activity, at: slot.date, delivery, id), token)
            case .activity(let token), .activityEnd(let token, _):
                .push(try change(of: activity, at: slot.date, destination, delivery, id), token)
            case .channel(let channel), .channelEnd(let channel, _):
                .broadcast(
                    try Broadcast(
                        update(of: activity, destination, delivery),
                        on: channel,
                        of: topic,
                        timestamp: slot.date,
                        priority: (delivery.priority ?? .powerAware).priority,
                        expiration: delivery.expiration ?? .attemptOnce
                    )
                )
            }
        }
        return SurfaceRequest(content: content, delay: slot.delay)
    }

    /// What goes to a device for other kinds than Live Activities: something to read, or something to put in place.
    private func silentOrAlert(
        of snapshot: SurfaceSnapshot,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        if case .notification(let notification) = snapshot { return alert(notification.payload, delivery, id) }
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

    /// New content, or the last where the destination is an end.
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
