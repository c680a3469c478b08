// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// A builder of the pushes of a request, which fills in omitted members and rejects pushes that Apple would refuse.
struct PushRequestBuilder {
    /// The longest time ahead for which a push may be scheduled, in milliseconds: 30 days, as long as APNs stores one.
    private static let longestDelay: Int64 = 30 * 86_400_000

    /// The maximum size in bytes of a payload whose content is checked; of a longer one only the size.
    private static let longestCheckedPayload = 16 << 10

    let caller: Callers.Caller
    let apps: [RelayConfiguration.App]
    let clients: LaneClients
    /// The value of `Idempotency-Key`, from which the identifiers are derived, so that a retry has the same.
    let idempotencyKey: String?
    let traceParent: String?
    /// The time in milliseconds since 1970, updated during long batches.
    var now: Int64
    /// The generator of identifiers that the client has not chosen.
    var generator: SplitMix64
    /// The time whose timestamp a push of a job to a Live Activity has, in milliseconds since 1970; nil without a job,
    /// so that each push has a timestamp of its own.
    var timeOfJob: Int64?

    /// Builds the pushes of a request that names tokens or a channel, one for each destination.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - line: The number of the line of a request in a batch.
    ///   - places: The indices of the destinations; nil for all of them.
    /// - Returns: The pushes in the order of the destinations.
    /// - Throws: ``APIProblem`` when the caller may not send the push, or Apple would refuse it.
    mutating func pushes(
        of request: PushRequest,
        line: Int? = nil,
        at places: Range<Int>? = nil
    ) throws(APIProblem) -> [OutboxPush] {
        let key = requestKey(ofLine: line)
        let app = try app(of: request)
        try checkTimes(of: request)
        let lane = Lane(app: app.name, environment: request.environment ?? app.environments[0])
        guard app.environments.contains(lane.environment), let renderer = clients[lane]?.renderer else {
            throw APIProblem(
                400,
                "the app \(app.name) is not configured for \(lane.environment.rawValue)",
                at: "/environment"
            )
        }
        let bundle = request.bundleID ?? app.bundleIDs[0]
        let places = places ?? request.destinations.indices
        var pushes: [OutboxPush] = []
        pushes.reserveCapacity(places.count)
        let sourceRequest = request.sourceRequest
        for index in places {
            let destination = request.destinations[index]
            let id = request.id ?? key.flatMap { APNsID(app: app.name, idempotencyKey: $0, "\(index)") }
            pushes.append(try push(of: request, sourceRequest, to: destination, lane, bundle, id, renderer))
        }
        return pushes
    }

    /// Returns the text from which the identifiers of a request are derived; nil without `Idempotency-Key`.
    func requestKey(ofLine line: Int?) -> String? {
        idempotencyKey.map { key in line.map { "\(key)\n\($0)" } ?? key }
    }

    /// Builds a push with an identifier, or a new one if it is nil.
    mutating func push(
        of request: PushRequest,
        _ sourceRequest: [UInt8]?,
        to destination: PushRequest.Destination,
        _ lane: Lane,
        _ bundle: String,
        _ chosenID: APNsID?,
        _ renderer: SnapshotRenderer
    ) throws(APIProblem) -> OutboxPush {
        let id = chosenID ?? APNsID(milliseconds: now, randomBits: (generator.next(), generator.next()))
        let (headers, payload, notBefore) = try content(of: request, for: destination, bundle, id, renderer)
        let time = max(now, notBefore ?? now)
        var push = try PushRequestBuilder.push(headers, payload, to: destination, lane, bundle, id, at: time)
        guard push.orderKey != nil || !request.supersedes else {
            throw APIProblem(
                400,
                "supersede needs collapse-id, unless the push is for a channel or has the push-type liveactivity",
                at: "/supersede"
            )
        }
        push.hasCallersID = chosenID != nil
        push.sourceRequest = sourceRequest
        push.notBefore = notBefore
        push.traceParent = traceParent
        push.supersedes = request.supersedes
        return push
    }

    /// Returns a push with headers and a payload that APNs does not refuse, which is sent at a time or later.
    static func push(
        _ headers: PushHeaders,
        _ payload: [UInt8],
        to destination: PushRequest.Destination,
        _ lane: Lane,
        _ bundle: String,
        _ id: APNsID,
        at time: Int64
    ) throws(APIProblem) -> OutboxPush {
        if let reason = refusal(of: destination, bundle, headers, payload) {
            throw problem(reason, destination, bundle, headers, payload)
        }
        let stored = destination.stored(bundle: bundle)
        return OutboxPush(
            lane: lane,
            id: id,
            destination: stored,
            headers: headers,
            payload: payload,
            expiresAt: headers.expiry(at: time),
            orderKey: headers.orderKey(for: stored)
        )
    }

    /// Checks the times at which the pushes of a request are to be sent, when it arrives.
    func checkTimes(of request: PushRequest) throws(APIProblem) {
        let longestDelay = PushRequestBuilder.longestDelay
        if let time = request.notBefore, time > now + longestDelay {
            throw APIProblem(
                400,
                "not-before must be at most 30 days ahead, as seconds since 1970 (found \(time / 1_000))",
                at: "/not-before"
            )
        }
        if let time = request.notBefore, let end = request.expiration, end > 0, end <= time / 1_000 {
            throw APIProblem(
                400,
                "expiration must be 0, or after not-before: more than \(time / 1_000) (found \(end))",
                at: "/expiration"
            )
        }
        try request.localDelivery?.check(at: now, longestDelay: longestDelay, expiration: request.expiration)
    }

    /// Returns the app of a request.
    ///
    /// The error for an app of another caller is the same as for an app that does not exist, so that a caller cannot
    /// find out which apps and bundle identifiers the relay serves.
    func app(of request: PushRequest) throws(APIProblem) -> RelayConfiguration.App {
        guard request.app != nil || request.bundleID != nil || caller.apps.count == 1 else {
            throw APIProblem(
                400,
                "app is missing: this key is for \(caller.apps.sorted().joined(separator: ", "))",
                at: ""
            )
        }
        let own = apps.lazy.filter { [apps = caller.apps] in apps.contains($0.name) }
        if let name = request.app, !own.contains(where: { $0.name == name }) {
            throw APIProblem(403, "this key is not for the app \(ShownValue(name))", at: "/app")
        }
        let app = own.first { app in
            (request.app ?? app.name) == app.name && request.bundleID.map(app.bundleIDs.contains) ?? true
        }
        guard let app else {
            let bundle = ShownValue(request.bundleID ?? "")
            throw APIProblem(403, "this key is not for an app with the bundle identifier \(bundle)", at: "/bundle-id")
        }
        return app
    }

    private func content(
        of request: PushRequest,
        for destination: PushRequest.Destination,
        _ bundle: String,
        _ id: APNsID,
        _ renderer: SnapshotRenderer
    ) throws(APIProblem) -> (PushHeaders, [UInt8], notBefore: Int64?) {
        switch request.content {
        case .payload(let payload):
            var headers = PushHeaders(
                pushType: request.pushType,
                expiration: request.expiration.map { String($0) },
                priority: request.priority.map { String($0) },
                collapseID: request.collapseID?.rawValue
            )
            switch destination {
            case .device:
                let type = request.pushType ?? PushType.alert.rawValue
                headers.pushType = type
                headers.topic = Topic(bundle).qualified(for: PushType(rawValue: type)).rawValue
            case .channel:
                headers.pushType = headers.pushType ?? PushType.liveActivity.rawValue
                headers.expiration = headers.expiration ?? "0"
                headers.priority = headers.priority ?? "5"
            }
            return (headers, payload, request.notBefore)
        case .snapshot(let surface):
            var delivery = surface.delivery
            delivery.id = id
            delivery.collapseID = request.collapseID
            delivery.expiration = request.expiration.map(PushNotification.Expiration.init(secondsSince1970:))
            let target = destination.surface(of: surface)
            // A snapshot to be sent later gets the timestamp for the earliest time at which it may be sent.
            let later = request.notBefore.flatMap { $0 > now ? $0 : nil }
            if let time = timeOfJob ?? later { delivery.schedule(at: time, to: target, topic: Topic(bundle)) }
            do throws(APNsError) {
                let push = try renderer.render(
                    surface.snapshot,
                    to: target,
                    topic: Topic(bundle),
                    delivery: delivery
                )
                let delay = Int64((push.delay / .milliseconds(1)).rounded(.up))
                return (push.headers, push.body, delay > 0 ? now + delay : request.notBefore)
            } catch {
                throw APIProblem(error.code == .overloaded ? 429 : 400, "\(error)", at: "/snapshot")
            }
        }
    }

    private static func refusal(
        of destination: PushRequest.Destination,
        _ bundle: String,
        _ headers: PushHeaders,
        _ payload: [UInt8]
    ) -> APNsReason? {
        switch destination {
        case .device: return PushLint.firstReasonNotToSend(headers: headers, payload: payload)
        case .channel(let channel):
            return PushLint.firstReasonNotToSend(broadcastTo: bundle, channel: channel.rawValue, headers: headers)
                ?? PushLint.firstRefusal(broadcastPayload: payload)
        }
    }

    /// Returns the error for a push that APNs would refuse, with the rule and the member that breaks it.
    private static func problem(
        _ reason: APNsReason,
        _ destination: PushRequest.Destination,
        _ bundle: String,
        _ headers: PushHeaders,
        _ payload: [UInt8]
    ) -> APIProblem {
        let size = PayloadSize.exactly(payload.count)
        let isLong = payload.count > PushRequestBuilder.longestCheckedPayload
        let findings =
            switch destination {
            case .device where isLong: PushLint.check(headers: headers, payloadSize: size)
            case .channel(let channel) where isLong:
                PushLint.check(broadcastTo: bundle, channel: channel.rawValue, headers: headers, payloadSize: size)
            case .device: PushLint.check(headers: headers, payload: payload)
            case .channel(let channel):
                PushLint.check(broadcastTo: bundle, channel: channel.rawValue, headers: headers, payload: payload)
            }
        let finding = findings.first { $0.reasonNotToSend == reason }
        let rule = finding?.message ?? reason.explanation ?? "APNs refuses the push"
        return APIProblem(400, "\(rule) (\(reason))", at: finding?.place.requestPointer ?? "/payload")
    }
}

extension PushLint.Place {
    /// The member of a request from which the relay made this part of the push, as a JSON pointer.
    fileprivate var requestPointer: String {
        switch self {
        case .payload(let pointer): "/payload" + pointer
        case .header("apns-channel-id"): "/channel"
        case .header("apns-topic"), .header(":path"): "/bundle-id"
        case .header(let name): "/" + name.replacing("apns-", with: "", maxReplacements: 1)
        case .connection: ""
        }
    }
}

extension PushRequest.Destination {
    /// Returns the destination in the outbox, for an app with a bundle identifier.
    func stored(bundle: String) -> PushDestination {
        switch self {
        case .device(let token): .device(token)
        case .channel(let channel): .channel(channel, bundle: bundle)
        }
    }

    /// Returns the destination of a snapshot.
    fileprivate func surface(of request: SnapshotRequest) -> SurfaceDestination {
        switch (self, request.event) {
        case (.device(let token), "start"): .activityStart(token)
        case (.device(let token), "end"): .activityEnd(token, dismissal: request.dismissal)
        case (.device(let token), _): request.snapshot.kind == .liveActivity ? .activity(token) : .device(token)
        case (.channel(let channel), "end"): .channelEnd(channel, dismissal: request.dismissal)
        case (.channel(let channel), _): .channel(channel)
        }
    }
}

extension PushRequest {
    /// The members from which the relay builds the payload together with the time; nil when the client sent the
    /// payload.
    ///
    /// Of a payload with languages or values it is the hash: a phone may get another payload when the request is
    /// repeated.
    var sourceRequest: [UInt8]? {
        guard case .snapshot(let surface) = content else { return isPersonal ? contentHash : nil }
        return JSONValue.members([
            "snapshot": surface.snapshot.json, "event": .string(surface.event),
            "bundle-id": bundleID.map { .string($0) },
            "collapse-id": collapseID.map { .string($0.rawValue) },
            "expiration": expiration.map { .number(JSONNumber($0)) },
            "stale-date": surface.staleDate.map { .number(JSONNumber($0)) },
            "relevance-score": surface.relevanceScore.flatMap(JSONValue.double),
            "attributes-type": surface.attributesType.map { .string($0) },
            "dismissal-date": surface.dismissalDate.map { .number(JSONNumber($0)) },
            "priority": priority.map { .number(JSONNumber($0)) },
            "mobile-surfaces": surface.isCompatible ? JSONValue.bool(true) : nil,
        ]).encoded()
    }

    /// The hash of the payload with its headers, languages and values.
    var contentHash: [UInt8] {
        let members = JSONValue.members([
            "push-type": pushType.map { .string($0) },
            "collapse-id": collapseID.map { .string($0.rawValue) },
            "expiration": expiration.map { .number(JSONNumber($0)) },
            "priority": priority.map { .number(JSONNumber($0)) },
            "locales": overrides?.field.value, "values": values?.field.value,
            "default-values": values?.defaultField.value,
        ])
        var bytes = members.encoded()
        if case .payload(let payload) = content { bytes += payload }
        return (try? SHA256.hash(bytes)) ?? bytes
    }
}

extension APNsID {
    /// Creates the identifier of a push sent with an `Idempotency-Key`, which is the same for the same key.
    ///
    /// The place is the index of the destination in its request, or the installation.
    init?(app: String, idempotencyKey: String, _ place: String) {
        guard let hash = try? SHA256.hash(Array("\(app)\n\(idempotencyKey)\n\(place)".utf8)) else { return nil }
        self.init(hash: hash)
    }
}
