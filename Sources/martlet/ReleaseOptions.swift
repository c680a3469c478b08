import APNsClient
import Commands
import Simulator

/// The options that let pushes of the inbox go on to real devices.
struct ReleaseOptions: Sendable {
    private var isAllowed: Bool
    private var deviceTokens: [DeviceToken]
    private var host: APNsEndpoint?
    private var key: KeyOptions

    static let declared = Group(
        Flag("--allow-release", "Let pushes of the inbox be sent on to real devices"),
        Option<[DeviceToken]>("--release-to", "A device that may get them; no other does"),
        Option<APNsEndpoint?>("--release-host", "Where they go, if not to Apple's host of the environment"),
        KeyOptions.declared
    ) { ReleaseOptions(isAllowed: $0, deviceTokens: $1, host: $2, key: $3) }

    /// What was allowed; nil when nothing was.
    func release(in environment: SimulatedAPNs.Environment) throws -> SimulatedAPNs.Release? {
        guard isAllowed else {
            guard deviceTokens.isEmpty, host == nil, key.isEmpty else {
                throw UsageError("--release-to, --release-host and --key go with --allow-release")
            }
            return nil
        }
        guard !deviceTokens.isEmpty else {
            throw UsageError("--release-to is missing: pushes are sent on to devices that are named, and to no others")
        }
        let endpoint = host ?? (environment == .production ? .production : .development)
        let client = try PushClient(
            endpoint,
            authentication: .token(key.signingKey(isForApple: host == nil)),
            configuration: PushClient.Configuration(retry: .none, checksBeforeSending: false)
        )
        return SimulatedAPNs.Release(
            with: client,
            destination: host == nil ? endpoint.host : "\(endpoint.host):\(endpoint.port)",
            environment: environment,
            to: Set(deviceTokens)
        )
    }
}
