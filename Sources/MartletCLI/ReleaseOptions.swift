// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletSimulator
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options for sending pushes from the inbox to real devices.
struct ReleaseOptions: Sendable {
    private var isAllowed: Bool
    private var deviceTokens: [DeviceToken]
    private var host: APNsEndpoint?
    private var key: KeyOptions
    /// The variables of the process, which may select a proxy.
    private var variables: [String: String]

    static let declared = Group(
        Flag("--allow-release", "Allow sending pushes from the inbox to real devices"),
        Option<[DeviceToken]>("--release-to", "Token of a device that may receive them"),
        Option<APNsEndpoint?>("--release-host", "Server for these pushes in place of Apple's"),
        KeyOptions.declared
    ) {
        ReleaseOptions(
            isAllowed: $0,
            deviceTokens: $1,
            host: $2,
            key: $3,
            variables: ProcessInfo.processInfo.environment
        )
    }

    /// Returns a warning if other machines can use the permission to send.
    ///
    /// - Parameter host: The address that the HTTP interface listens on.
    /// - Returns: The warning; nil for a loopback address, and without the permission.
    func warning(for host: ListenHost) -> String? {
        guard isAllowed, !host.isLoopback else { return nil }
        return "warning: with --listen \(host) and --allow-release, other machines can send pushes to the devices of"
            + " --release-to without a key: use --listen 127.0.0.1, or let no other machine reach --inbox-port"
    }

    /// Creates the permission that the options specify; nil for none.
    func release(in environment: SimulatedAPNs.Environment) throws -> SimulatedAPNs.Release? {
        guard isAllowed else {
            guard deviceTokens.isEmpty, host == nil, key.isEmpty else {
                throw UsageError("--release-to, --release-host and --key need --allow-release")
            }
            return nil
        }
        guard !deviceTokens.isEmpty else {
            throw UsageError("--release-to is missing: name the devices that may receive pushes")
        }
        let endpoint = host ?? (environment == .production ? .production : .development)
        let client = try PushClient(
            endpoint,
            authentication: .token(key.signingKey(isRequired: host == nil)),
            configuration: PushClient.Configuration(
                proxy: endpoint.proxy(in: variables),
                retry: RetryPolicy.none,
                checksBeforeSending: false
            )
        )
        return SimulatedAPNs.Release(
            with: client,
            destination: host == nil ? endpoint.host : "\(HostPort(host: endpoint.host, port: endpoint.port))",
            environment: environment,
            to: Set(deviceTokens)
        )
    }
}
