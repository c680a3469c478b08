internal import APNs
internal import APNsClient
internal import Outbox
internal import Wire

/// Sends the pushes of one lane: a client with the app's key, which tries each push once.
struct LaneClient: Sendable {
    let client: PushClient
    /// The host that pushes are sent to.
    let server: String
    /// The team whose keys the client can sign with.
    var teamID: String { key.teamID }
    /// The key that the client was made with.
    private let key: SigningKey
    private let sharesTokens: Bool

    /// A client for an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: Where its pushes go.
    ///   - mint: What makes provider tokens for other relays, too; nil when this one makes its own.
    /// - Throws: ``RelayError`` when the client cannot be made.
    init(for app: RelayConfiguration.App, at endpoint: LaneEndpoint, mint: FleetMint?) throws(RelayError) {
        server = endpoint.endpoint.host
        key = app.key
        sharesTokens = mint != nil
        var configuration = PushClient.Configuration()
        configuration.additionalAuthorities = endpoint.authorities
        // When a push is tried again is for the outbox to remember.
        configuration.retry = .none
        configuration.sendTimeout = .seconds(30)
        configuration.checksBeforeSending = false
        do throws(APNsError) {
            client = try PushClient(
                endpoint.endpoint,
                authentication: mint.map { .mint($0) } ?? .token(app.key),
                configuration: configuration
            )
        } catch {
            throw RelayError("the app \(app.name): \(error)")
        }
    }

    /// Whether the client signs with this key, or can be given it on the way.
    func maySign(with key: SigningKey) -> Bool {
        key.teamID == self.key.teamID && (!sharesTokens || key.keyID == self.key.keyID)
    }

    /// Sends a push once.
    func send(_ push: OutboxPush) async -> SendResult {
        // A peer resets the stream of such a request without an answer, so that trying again would never end it.
        if let reason = push.unsendableHeader {
            return .refused(status: reason.status ?? 400, reason: reason, timestamp: nil, retryAfter: nil)
        }
        let target: ForwardedRequest.Target =
            switch push.destination {
            case .device(let token): .device(token)
            case .channel(let channel, let bundle): .broadcast(channel, bundle: bundle)
            }
        do throws(APNsError) {
            let answer = try await client.forward(
                ForwardedRequest(target, id: push.id, headers: push.headers, body: push.payload)
            )
            return .accepted(uniqueID: answer.fields["apns-unique-id"])
        } catch {
            return SendResult(error)
        }
    }

    /// Sends over no more connections than these, or than is usual.
    func limitConnections(to count: Int?) {
        client.limitConnections(to: count ?? PushClient.Configuration().connectionLimit)
    }

    func close() async {
        await client.close(within: .seconds(1))
    }
}

extension OutboxPush {
    /// The reason to refuse a push whose headers HTTP/2 cannot carry; nil when it can carry them all.
    ///
    /// The relay takes no such push; other programs may have written one into the outbox.
    var unsendableHeader: Reason? {
        let values = [
            (headers.collapseID, Reason.badCollapseID), (headers.topic, .badTopic),
            (headers.pushType, .invalidPushType),
            (headers.priority, .badPriority), (headers.expiration, .badExpirationDate),
        ]
        if let bad = values.first(where: { $0.0?.isHeaderValue == false }) { return bad.1 }
        guard case .channel(let channel, let bundle) = destination else { return nil }
        guard channel.rawValue.isHeaderValue else { return .badChannelID }
        return bundle.isHeaderValue && !bundle.contains(" ") ? nil : .badPath
    }
}

extension SendResult {
    /// What the client's error means for the push.
    init(_ error: APNsError) {
        let retryAfter = error.retryAfter.map { $0.components.seconds * 1_000 }
        self =
            switch error.outcome {
            case .answered:
                .refused(
                    status: error.status ?? 0,
                    reason: error.reason,
                    timestamp: error.unregisteredAt?.millisecondsSince1970,
                    retryAfter: retryAfter
                )
            case .neverSent, .unprocessed: .neverSent(reason: error.laneReason, retryAfter: retryAfter)
            case .unknown: .unknown
            }
    }
}

extension APNsError {
    /// The reason that a push was not sent, from a short list: Apple's if the client stopped because of that, else the
    /// code, written as Apple writes reasons.
    fileprivate var laneReason: String {
        if code == .circuitOpen, let reason { return SendResult.listed(reason) }
        let name = code.description
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
