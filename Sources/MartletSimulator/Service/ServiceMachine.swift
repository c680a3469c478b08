// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// The decisions about requests to a simulated APNs: answers, faults, findings, deliveries, and the number of streams
/// of each client, without I/O or a clock.
///
/// The same seed reproduces the same decisions.
struct ServiceMachine {
    /// The decision about one request.
    struct Decision {
        /// The answer according to the rules, whose effects remain when a fault changes the answer.
        var evaluated: RequestEvaluator.Answer
        /// The answer.
        var answer: RequestEvaluator.Answer
        /// The value of `apns-id` or `apns-request-id` in the response.
        var id: String
        /// The response.
        var response: APNsResponse
        /// The faults that affect the request.
        var injections: [FaultInjection]
    }

    /// The number of streams that APNs was observed to allow after it accepts a token.
    private static let streamsAfterToken: UInt32 = 1_000
    /// The maximum skew of the clock, in milliseconds: about three years.
    private static let longestSkew: Int64 = 100_000_000_000
    /// The maximum number of connections that faults refuse.
    private static let refusalLimit = 1_000_000
    /// The maximum number of faults.
    private static let faultLimit = 1_000

    var evaluator: RequestEvaluator
    private(set) var plan: FaultPlan
    var contracts = ActivityContracts()
    private var traffic = TrafficRules()
    private var generator: SplitMix64
    private let environment: SimulatedAPNs.Environment
    private let relaxedRules: RelaxedRules
    private let streamsBeforeToken: UInt32
    /// The number of connections that are still to be closed before their TLS handshake.
    private var connectionsToRefuse = 0

    init(_ configuration: SimulatedAPNs.Configuration) {
        environment = configuration.environment
        relaxedRules = configuration.relaxedRules
        streamsBeforeToken = configuration.streamsBeforeToken
        evaluator = RequestEvaluator(
            environment: environment,
            relaxedRules: relaxedRules,
            rememberedNotifications: configuration.storedPushes
        )
        plan = FaultPlan(
            configuration.faults,
            seed: configuration.seed,
            usesTokenSuffixes: configuration.usesTokenSuffixes
        )
        generator = SplitMix64(state: configuration.seed)
    }

    // MARK: Connections

    /// Returns whether the next client may connect, and counts down the connections that a fault refuses.
    mutating func admitsConnection() -> Bool {
        guard connectionsToRefuse > 0 else { return true }
        connectionsToRefuse -= 1
        return false
    }

    /// The number of streams in the first SETTINGS frame of a connection.
    var initialStreams: UInt32 { min(streamsBeforeToken, plan.streamLimit ?? .max) }

    /// Returns the number of streams that a client may have open.
    func streamLimit(of client: ClientState) -> UInt32 {
        let limit = client.hasAllStreams ? ServiceMachine.streamsAfterToken : streamsBeforeToken
        return min(limit, plan.streamLimit ?? .max, client.faultStreamLimit ?? .max)
    }

    /// Raises the stream limit of a client once its token is accepted, and lowers it to the initial limit when a push
    /// is refused, as APNs does to slow down senders that ignore its answers ("Handling notification responses from
    /// APNs").
    private func adjustStreams(of client: inout ClientState, after answer: RequestEvaluator.Answer) {
        let isMistake = (400..<500).contains(answer.status) && answer.reason?.isTokenUnregistered != true
        if client.hasAllStreams, isMistake, !relaxedRules.contains(.fullSpeedAfterRefusals) {
            client.hasAllStreams = false
        } else if client.connection.isSenderKnown, !client.hasAllStreams, !isMistake {
            client.hasAllStreams = true
        }
    }

    // MARK: Requests

    /// Decides about a request of a client, at a time in milliseconds since 1970.
    mutating func decide(
        on request: APNsRequest,
        from client: inout ClientState,
        over port: ConnectionRecord.Port,
        at now: Int64
    ) -> Decision {
        // With a provider certificate APNs ignores `authorization`.
        let hasToken = request.authorization != nil && !client.connection.isKnownByCertificate
        var injections = plan.injections(on: request.deviceToken, request.headers, hasToken: hasToken, at: now)
        for injection in injections { apply(injection.action, to: &client) }
        let wasBound = client.connection.isBound
        let skewedNow = now + evaluator.clockSkew
        let evaluated =
            port == .pushes || request.isAboutChannels
            ? evaluator.answer(to: request, over: &client.connection, at: skewedNow, using: &generator)
            : .refused(RequestEvaluator.notAboutChannels)
        if evaluated.status != 200 { injections.removeAll(where: \.needsAcceptance) }
        // The fault that declared a provider token expired also answers later requests with that token.
        if injections.isEmpty, evaluated.reason == .expiredProviderToken,
            evaluated.finding == RequestEvaluator.expiredByFault.finding
        {
            injections = [.expiredToken]
        }
        // A fault changes the answer, not the effect of the request.
        var answer = evaluated
        for injection in injections {
            guard let injected = RequestEvaluator.Answer(injection, at: now) else { continue }
            answer = injected
            // A token that was answered as expired remains expired, so its replacement is not too early.
            if injected.reason == .expiredProviderToken { evaluator.expire(request.authorization) }
        }
        // A client does not know of an acceptance that a fault has replaced by a refusal.
        if answer.status != 200, !wasBound { client.connection.unbind() }
        adjustStreams(of: &client, after: answer)
        injections += countErrors(of: &client, in: answer, on: request, at: now)
        let hasRequestID = port == .channels || request.hasRequestID
        let (id, response) = response(to: request, answer, hasRequestID: hasRequestID, at: skewedNow)
        return Decision(evaluated: evaluated, answer: answer, id: id, response: response, injections: injections)
    }

    /// Decides about a push that was sent from the inbox page.
    ///
    /// Faults that answer in place of APNs apply to it; faults of connections do not.
    mutating func decide(onComposed request: APNsRequest, at now: Int64) -> Decision {
        let evaluated = evaluator.answer(onComposed: request, using: &generator)
        var answer = evaluated
        var injections: [FaultInjection] = []
        for injection in plan.injections(on: request.deviceToken, request.headers, hasConnection: false, at: now) {
            if evaluated.status != 200, injection.needsAcceptance { continue }
            guard let injected = RequestEvaluator.Answer(injection, at: now) else { continue }
            answer = injected
            injections = [injection]
        }
        let skewedNow = now + evaluator.clockSkew
        let (id, response) = response(to: request, answer, hasRequestID: request.hasRequestID, at: skewedNow)
        return Decision(evaluated: evaluated, answer: answer, id: id, response: response, injections: injections)
    }

    /// Applies a fault that changes the clock, the streams of the client, or later connections.
    private mutating func apply(_ action: SimulatedAPNs.Fault.Action, to client: inout ClientState) {
        switch action {
        case .skewClock(let duration):
            let skew = Int64(millisecondsOf: duration.components.seconds)
            evaluator.clockSkew = min(max(skew, -ServiceMachine.longestSkew), ServiceMachine.longestSkew)
        case .limitStreams(let limit): client.faultStreamLimit = limit
        case .refuseConnections(let count):
            let limit = ServiceMachine.refusalLimit
            connectionsToRefuse = min(connectionsToRefuse, limit) + min(max(0, count), limit)
        default: break
        }
    }

    /// Counts the errors of a client, and returns the faults that their number triggers.
    private mutating func countErrors(
        of client: inout ClientState,
        in answer: RequestEvaluator.Answer,
        on request: APNsRequest,
        at now: Int64
    ) -> [FaultInjection] {
        client.errorCount += answer.errorWeight
        guard answer.errorWeight > 0, !client.hasTooManyErrors else { return [] }
        let (device, headers, count) = (request.deviceToken, request.headers, client.errorCount)
        let injections = plan.injections(on: device, headers, afterErrors: count, answer.reason, at: now)
        client.hasTooManyErrors = !injections.isEmpty
        return injections
    }

    /// Returns the response for a answer, and the identifier in it.
    private mutating func response(
        to request: APNsRequest,
        _ answer: RequestEvaluator.Answer,
        hasRequestID: Bool,
        at skewedNow: Int64
    ) -> (id: String, APNsResponse) {
        var fields: [(name: String, value: String)] = []
        let id: String
        if hasRequestID {
            id = APNsRequest.returnedID(request.requestID) ?? APNsID.random(using: &generator).description
            fields.append(("apns-request-id", id))
            if let channel = answer.channel { fields.append(("apns-channel-id", channel.rawValue)) }
        } else {
            id = APNsRequest.returnedID(request.headers.id) ?? APNsID.random(using: &generator).description
            fields.append(("apns-id", id))
            if environment == .development {
                fields.append(("apns-unique-id", APNsID.random(using: &generator).description))
            }
        }
        if let retryAfter = answer.retryAfter { fields.append(("retry-after", String(retryAfter))) }
        if evaluator.clockSkew != 0 { fields.append(("date", HTTPDate.text(secondsSince1970: skewedNow / 1_000))) }
        let response = APNsResponse(
            status: answer.status,
            reason: answer.reason,
            timestamp: answer.timestamp,
            fields: fields,
            body: answer.body
        )
        return (id, response)
    }

    // MARK: Pushes

    /// Returns the record of an answered push with its findings and delivery events, the delivery events of other
    /// pushes, and the number of the push that it repeats, if any.
    mutating func record(
        _ request: APNsRequest,
        _ decision: Decision,
        number: Int,
        in namespace: String?,
        over connection: Int,
        from client: inout ClientState,
        at now: Int64
    ) -> (push: ReceivedPush, others: DeviceRegistry.Deliveries, repeated: Int?) {
        let answer = decision.answer
        let injection = decision.injections.decisive
        var push = ReceivedPush(
            request,
            number: number,
            answeredWith: answer,
            id: decision.id,
            fault: injection?.name,
            in: namespace,
            over: connection,
            at: now
        )
        if let encoding = request.contentEncoding, encoding.lowercased() != "identity" {
            push.observations.append(RequestRules.compressed(encoding))
        }
        if push.status == 200, let finding = RequestRules.shortToken(push.deviceToken) {
            push.observations.append(finding)
        }
        let loss = injection.flatMap { $0.withholdsAnswer ? AnswerLoss.fault($0) : nil }
        if loss == nil { evaluator.phones?.receive(push, at: now) }
        var others: DeviceRegistry.Deliveries = []
        var repeated: Int?
        if push.status == 200 {
            if loss == nil {
                let token = push.deviceToken.lowercased()
                let concernsDevices = evaluator.devices.concerns(push, to: token)
                let content = concernsDevices ? push.content : nil
                repeated = observe(&push, content, to: token, from: &client)
                evaluator.devices.recordNotification(push, to: token)
                // Without registered devices, most pushes are delivered at once.
                if concernsDevices {
                    others = deliver(&push, content, at: now)
                } else {
                    push.record(DeliveryEvent(.delivered, at: now))
                }
            }
        } else if let reason = push.reason {
            if let finding = answer.finding {
                push.observations.append(finding)
            } else if !push.findings.contains(where: { $0.reason == reason }) {
                push.observations.append(RefusalRules.other(reason))
            }
        }
        push.observations += RefusalRules.findings(about: request)
        if let loss { push.loseAnswer(to: loss) }
        return (push, others, repeated)
    }

    /// Adds the findings about an accepted push that depend on earlier pushes, its sender, channels and contracts.
    ///
    /// - Returns: The number of the push that it repeats; nil for none.
    private mutating func observe(
        _ push: inout ReceivedPush,
        _ content: JSONValue?,
        to deviceToken: String,
        from client: inout ClientState
    ) -> Int? {
        defer { client.acceptedCount += 1 }
        if let activity = ActivityPush(push, content) {
            push.observations += contracts.findings(for: activity)
            contracts.record(activity)
            let shown = evaluator.devices.activity(for: push)
            if !contracts.covers(activity.topic) {
                push.observations += ContentStateRules.findings(for: activity, after: shown)
            }
            if let finding = ContentStateRules.repetition(of: activity, after: shown) {
                push.observations.append(finding)
            }
        }
        if let finding = evaluator.channels.finding(for: push, content) { push.observations.append(finding) }
        guard push.app == nil else {
            if let token = client.connection.providerToken {
                push.observations += TrafficRules.findings(about: token, at: push.time, skew: evaluator.clockSkew)
            }
            return nil
        }
        let isComposed = push.connection == ReceivedPush.noConnection
        if !isComposed, push.headers.isForMDM, !client.connection.isKnownByCertificate {
            push.observations.append(RefusalRules.mdmWithToken)
        }
        let result = traffic.check(
            TrafficRules.Push(
                number: push.number,
                id: push.id,
                time: push.time,
                skew: evaluator.clockSkew,
                connection: push.connection,
                sender: isComposed || client.acceptedCount > 0 ? "" : client.connection.sender(in: push.namespace),
                earlierPushCount: client.acceptedCount,
                deviceToken: deviceToken,
                isOnline: evaluator.devices.isOnline(deviceToken),
                topic: push.headers.topic ?? "",
                pushType: push.headers.pushType.map(PushType.init(rawValue:)),
                collapseID: push.headers.collapseID,
                payload: push.payload,
                providerToken: client.connection.providerToken
            )
        )
        push.observations += result.findings
        return result.repeated
    }

    /// Delivers an accepted push, and returns the delivery events of other pushes that it affects.
    private mutating func deliver(
        _ push: inout ReceivedPush,
        _ content: JSONValue?,
        at now: Int64
    ) -> DeviceRegistry.Deliveries {
        var others: DeviceRegistry.Deliveries = []
        let delivered = DeliveredPush(push, content)
        for (number, event) in evaluator.devices.receive(delivered, at: now, using: &generator) {
            if number == push.number { push.record(event) } else { others.append((number, event)) }
        }
        return others
    }

    /// Forgets pushes that were removed from the inbox, and the devices of namespaces that have ended.
    mutating func forget(_ removal: PushInbox.Removal) {
        if removal.isComplete {
            traffic = TrafficRules()
            evaluator.devices.forgetPushes()
        } else {
            traffic.forget(removal.pushes.map { ($0.deviceToken.lowercased(), $0.headers.topic ?? "") })
        }
        evaluator.devices.remove(prefixes: removal.namespaces)
    }

    // MARK: Devices, channels and faults

    /// Sets whether a device is online, and returns the delivery events of its stored pushes.
    mutating func setOnline(_ isOnline: Bool, _ token: DeviceToken, at now: Int64) -> DeviceRegistry.Deliveries {
        evaluator.devices.setOnline(isOnline, token, at: now, using: &generator)
    }

    /// Creates a channel; returns nil when the app has the maximum number of channels.
    mutating func createChannel(for app: String, storing storage: ChannelStorage) -> ChannelID? {
        evaluator.channels.create(for: app, storing: storage, using: &generator)
    }

    /// Deletes a channel; returns false when the app has no channel with this identifier.
    mutating func deleteChannel(_ channel: ChannelID, of app: String) -> Bool {
        guard evaluator.channels.storage(of: channel.rawValue, in: app) != nil else { return false }
        evaluator.channels.delete(channel.rawValue, in: app)
        evaluator.devices.removed(channel)
        return true
    }

    /// Adds a fault.
    ///
    /// - Throws: ``SimulatorError`` when there are too many.
    mutating func addFault(_ fault: SimulatedAPNs.Fault) throws(SimulatorError) {
        guard plan.faults.count < ServiceMachine.faultLimit else {
            throw SimulatorError("there are \(ServiceMachine.faultLimit) faults already: remove some first")
        }
        plan.add(fault)
    }

    /// Removes the fault with an index in the plan.
    mutating func removeFault(at index: Int) {
        plan.remove(at: index)
    }

    /// Replaces all faults, and ends the effects of the earlier ones.
    mutating func setFaults(_ faults: [SimulatedAPNs.Fault], seed: UInt64) {
        plan = FaultPlan(faults, seed: seed, usesTokenSuffixes: plan.usesTokenSuffixes)
        connectionsToRefuse = 0
        evaluator.clockSkew = 0
        evaluator.forgetExpiredTokens()
    }
}
