// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The sender of one lane's pushes: a client with the app's key, which sends each push once.
struct LaneClient: Sendable {
    private static let sendTimeout = Duration.seconds(30)
    /// The maximum time in which a push waits for a connection with a free stream.
    ///
    /// It is not sent afterwards, because its phone may have got another user since the claim.
    static let startTimeout = Duration.milliseconds(250)

    let client: PushClient
    /// The renderer of snapshots that are sent later.
    let renderer = SnapshotRenderer(timeout: LaneClient.sendTimeout)
    /// The host that pushes are sent to.
    let server: String
    /// The team whose keys the client can sign with.
    var teamID: String { key.teamID }
    /// The key that the client signs with.
    var key: SigningKey
    private let sharesTokens: Bool

    /// Creates a client for an app, which signs its own tokens when no source is passed, and connects directly when no
    /// proxy is passed.
    init(
        for app: RelayConfiguration.App,
        at endpoint: LaneEndpoint,
        through proxy: PushClient.Proxy? = nil,
        tokens: SharedProviderTokenSource?
    ) throws(RelayError) {
        server = endpoint.endpoint.host
        key = app.key
        sharesTokens = tokens != nil
        var configuration = PushClient.Configuration()
        configuration.additionalAuthorities = endpoint.authorities
        configuration.proxy = proxy
        // The outbox schedules retries, and the delivery machine decides when a lane is down.
        configuration.retry = .none
        configuration.breaksCircuit = false
        configuration.sendTimeout = LaneClient.sendTimeout
        configuration.checksBeforeSending = false
        do throws(APNsError) {
            client = try PushClient(
                endpoint.endpoint,
                authentication: tokens.map { .tokens(from: $0) } ?? .token(app.key),
                configuration: configuration
            )
        } catch {
            throw RelayError("the app \(app.name): \(error)")
        }
    }

    /// Returns whether the client signs with this key, or can change to it without being replaced.
    func maySign(with key: SigningKey) -> Bool {
        sharesTokens ? key.isSame(as: self.key) : key.teamID == self.key.teamID
    }

    /// Sends a push once; returns nil for a push that no connection took within ``startTimeout``, and was not sent.
    func send(_ push: OutboxPush, since start: ContinuousClock.Instant) async -> SendResult? {
        let wait = LaneClient.startTimeout - (ContinuousClock.now - start)
        guard wait > .zero else { return nil }
        let target: RequestTarget =
            switch push.destination {
            case .device(let token): .device(token)
            case .channel(let channel, let bundle): .broadcast(channel, bundle: bundle)
            }
        do throws(APNsError) {
            let response = try await client.forward(
                to: target,
                id: push.id,
                headers: push.headers,
                body: push.payload,
                startTimeout: wait
            )
            return .accepted(uniqueID: response.fields["apns-unique-id"])
        } catch {
            return error.isStartTimeout ? nil : SendResult(error)
        }
    }

    /// Limits the number of connections; nil for the default.
    func limitConnections(to count: Int?) {
        client.limitConnections(to: count ?? PushClient.Configuration().connectionLimit)
    }

    func close() async {
        await client.close(within: .seconds(1))
    }
}

extension SendResult {
    /// Creates the result for an error of the client.
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
            case .unknown: error.code == .connectionLost ? .lost : .unknown
            }
    }
}

extension APNsError {
    /// Whether the push was not sent, because no connection had a free stream in time.
    fileprivate var isStartTimeout: Bool {
        switch outcome {
        case .neverSent, .unprocessed: code == .overloaded
        case .answered, .unknown: false
        }
    }

    /// The reason that a push was not sent, from a short list: the code of the error in the form of Apple's reasons.
    fileprivate var laneReason: String {
        let name = code.description
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
