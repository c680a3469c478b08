// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletOutbox
internal import MartletTransport

extension RelayConfiguration {
    /// A server that the relay connects to through a proxy.
    package struct ProxiedServer: Sendable, Hashable {
        /// The host and port of the server.
        package var server: String
        /// The host and port of the proxy, without its password.
        package var proxy: String
    }

    /// Returns the server that the pushes of an environment are sent to.
    func endpoint(of environment: PushEnvironment) -> LaneEndpoint { endpoints[environment] ?? environment.apple }

    /// Returns the proxy for the server that the pushes of an environment are sent to; nil to connect directly.
    ///
    /// - Throws: ``RelayError``, which names the variable whose value is not the URL of an HTTP proxy.
    func proxy(of environment: PushEnvironment) throws(RelayError) -> PushClient.Proxy? {
        do throws(ProxyError) {
            return try endpoint(of: environment).endpoint.proxy(in: proxies)
        } catch {
            throw RelayError("\(error)")
        }
    }

    /// Returns the servers that the relay connects to through a proxy: those of Apple, webhooks and the collector.
    ///
    /// - Throws: ``RelayError``, which names the variable whose value is not the URL of an HTTP proxy.
    package func proxiedServers() throws(RelayError) -> [ProxiedServer] {
        var servers: [ProxiedServer] = []
        let used = Set(apps.flatMap(\.environments))
        for environment in PushEnvironment.allCases where used.contains(environment) {
            guard let found = try proxy(of: environment) else { continue }
            let apple = endpoint(of: environment).endpoint
            let server = "\(SocketAddress.bracketed(apple.host)):\(apple.port)"
            servers.append(ProxiedServer(server: server, proxy: found.address))
        }
        let addresses = apps.compactMap { $0.webhook?.address } + (telemetry.map { [$0.address] } ?? [])
        for address in addresses {
            guard let found = try proxies.proxy(for: address) else { continue }
            let server = ProxiedServer(server: address.server, proxy: found.description)
            if !servers.contains(server) { servers.append(server) }
        }
        return servers
    }
}

extension HTTPProxies {
    /// Returns the proxy for the server of an address; nil to connect directly.
    ///
    /// - Throws: ``RelayError``, which names the variable whose value is not the URL of an HTTP proxy.
    func proxy(for address: WebAddress) throws(RelayError) -> HTTPProxy? {
        do throws(ProxyError) {
            return try proxy(for: address.host, port: address.port, isEncrypted: address.isEncrypted)
        } catch {
            throw RelayError("\(error)")
        }
    }
}
