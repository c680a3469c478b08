// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension RelayConfiguration {
    /// The lanes that pushes are accepted for.
    var lanes: Set<Lane> {
        Set(apps.flatMap { app in app.environments.map { Lane(app: app.name, environment: $0) } })
    }

    /// Checks that the settings fit together, and that keys and certificates can be used.
    func check() throws(RelayError) {
        try checkNames(apps.map(\.name), "apps")
        try checkNames(callers.map(\.name), "callers")
        for app in apps where !app.name.utf8.allSatisfy(\.isOfPathSegment) {
            throw RelayError("the app \(app.name): name must consist of letters, digits, \"-\", \".\" and \"_\"")
        }
        guard !listeners.isEmpty || http != nil else {
            throw RelayError("listen or http must have an address")
        }
        if let rule = data.violatedRule { throw RelayError("data \(rule)") }
        try checkKeys()
        _ = try Callers(self)
        try checkCertificates()
        _ = try serverTLS()
        _ = try proxiedServers()
        for (environment, endpoint) in endpoints {
            do throws(TransportError) {
                _ = try TLSContext.client(authorities: endpoint.authorities)
            } catch {
                throw RelayError("apple.\(environment.rawValue).authorities: \(error)")
            }
        }
    }

    private func checkKeys() throws(RelayError) {
        var names: [String: String] = [:]
        for caller in callers {
            guard let hash = caller.hash?.lowercased(), let other = names.updateValue(caller.name, forKey: hash) else {
                continue
            }
            throw RelayError(
                "the callers \(other) and \(caller.name) have the same key-sha256: create a key for each with"
                    + " `martlet relay keys make`, so that each can be revoked separately"
            )
        }
    }

    private func checkCertificates() throws(RelayError) {
        guard let caller = callers.first(where: { $0.certificate != nil }) else { return }
        guard identity != nil else {
            throw RelayError(
                "the caller \(caller.name) has a certificate, which clients present only over TLS: "
                    + "set certificate and certificate-key"
            )
        }
        if clientAuthorities == nil, let caller = callers.first(where: { $0.certificate?.subject != nil }) {
            throw RelayError(
                "the caller \(caller.name) has certificate-subject, which needs client-authorities: "
                    + "any client can create a certificate with any subject"
            )
        }
    }

    /// Returns the TLS settings of `listen`; nil for connections without TLS.
    ///
    /// Clients are asked for a certificate only if a caller is configured with one, because browsers then prompt their
    /// users, and some clients fail.
    func serverTLS() throws(RelayError) -> TLSContext? {
        guard let identity else { return nil }
        do throws(TransportError) {
            _ = try TLSContext.server(identity: identity)
        } catch {
            throw RelayError("certificate and certificate-key: \(error)")
        }
        do throws(TransportError) {
            return try TLSContext.server(
                identity: identity,
                asksForCertificates: callers.contains { $0.certificate != nil },
                clientAuthorities: clientAuthorities
            )
        } catch {
            throw RelayError("client-authorities: \(error)")
        }
    }

    private func checkNames(_ names: [String], _ list: String) throws(RelayError) {
        var seen: Set<String> = []
        for (index, name) in names.enumerated() {
            let shown = ShownValue(name)
            guard shown.isWhole else {
                throw RelayError(
                    "\(list)[\(index)].name must have no key, password, \"=\" or \": \", because logs and pages show it"
                        + " (found \(shown))"
                )
            }
            guard seen.insert(name).inserted else {
                throw RelayError("\(list) has two entries with the name \(name)")
            }
        }
    }

    /// The warnings about settings that are allowed but probably mistakes, a sentence each.
    package var remarks: [String] {
        var remarks: [String] = []
        if http != nil, callers.isEmpty {
            remarks.append("http has an address, but callers has no key: only health checks are answered there")
        }
        for environment in listeners.keys where !apps.contains(where: { $0.environments.contains(environment) }) {
            let name = environment.rawValue
            remarks.append("listen.\(name) has an address, but no app is configured for \(name)")
        }
        if identity == nil, !listeners.values.allSatisfy(\.isOfThisMachine) {
            remarks.append("listen is open to other machines without a certificate: keys are readable on the network")
        }
        if let http, !http.isOfThisMachine {
            remarks.append("http is open to other machines without TLS: put a proxy with TLS in front of it")
        }
        for app in apps where app.quietHours?.leaveLessThanAnHour == true {
            remarks.append(
                "the quiet-hours of \(app.name) leave less than an hour of each day for alerts: they begin at from and"
                    + " end at to"
            )
        }
        return remarks + sharedKeyRemarks + (telemetry?.remarks ?? [])
    }

    /// The remarks, and the warnings that are reported when the configuration is checked but not logged at each start.
    package var warnings: [String] {
        var warnings = remarks
        if case .file(let path) = data {
            let directory = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
            if !FileManager.default.fileExists(atPath: directory.isEmpty ? "/" : String(directory)) {
                warnings.append(
                    "the directory of data, \(ShownValue(String(directory))), does not exist: create it before the "
                        + "relay starts"
                )
            }
        }
        if identity == nil, !listeners.isEmpty {
            warnings.append("listen has no certificate: most APNs clients speak TLS only, and cannot connect")
        }
        for app in apps {
            guard let webhook = app.webhook, webhook.hasPrivateAddress else { continue }
            warnings.append(
                "the webhook of \(app.name) has an address of a private network, which is never called:"
                    + " set allow-private"
            )
        }
        let silent = apps.filter { $0.webhook == nil }.map(\.name).joined(separator: ", ")
        if !silent.isEmpty {
            warnings.append("no webhook for \(silent): read unregistered tokens at /v1/apps/{app}/unregistered-tokens")
        }
        return warnings
    }

    /// A warning for each signing key of several apps: its holder may send for all of them.
    private var sharedKeyRemarks: [String] {
        Dictionary(grouping: apps) { "\($0.key.teamID) \($0.key.keyID)" }.sorted { $0.key < $1.key }
            .compactMap { _, apps in
                guard let first = apps.first, apps.count > 1 else { return nil }
                let names = apps.map(\.name).sorted().joined(separator: ", ")
                return
                    "the apps \(names) share the signing key \(first.key.keyID): a client that signs with it may send"
                    + " for each of them"
            }
    }
}

extension UInt8 {
    /// Whether a byte may be in a name that is part of a path: the unreserved characters except "~" (RFC 3986 §2.3).
    fileprivate var isOfPathSegment: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
