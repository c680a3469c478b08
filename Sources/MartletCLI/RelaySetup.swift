// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletOutbox
import MartletRelay
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Validates the configuration of a relay.
    static let relayCheck = Command(
        "relay check",
        "Validate the configuration of a relay, and warn about likely mistakes",
        examples: ["relay check --configuration relay.json"],
        RelayOptions.declared,
        OutputFormat.declared
    ) { options, output in
        let configuration = try options.configurationToCheck()
        if let expired = configuration.expiryWarnings(at: Date().secondsSince1970).first(
            where: \.isOfExpiredServerCertificate
        ) {
            throw CommandError("\(expired): renew it")
        }
        output.write(json: configuration.json, text: configuration.summary)
        guard !output.isJSON else { return }
        for warning in configuration.allWarnings { Terminal.errors.write("warning: \(warning)\n") }
    }

    /// Prints the JSON Schema of the configuration file.
    static let relaySchema = Command(
        "relay schema",
        "Print the JSON Schema of the configuration file",
        examples: ["relay schema > relay.schema.json"],
        OutputFormat.declared
    ) { _ in
        Terminal.output.write(ConfigurationSchema.document.line)
    }

    /// Creates an API key.
    static let relayKeysMake = Command(
        "relay keys make",
        "Create an API key for a client of a relay and print it; it is not stored",
        examples: ["relay keys make --name 'back end' --apps orders,rides --scopes send,read"],
        Option<NonemptyText>("--name", "Name of the key in logs", variable: "MARTLET_RELAY_KEY_NAME"),
        Option<AppList>("--apps", "Apps that the key can use, separated by commas"),
        Option("--scopes", "Permissions of the key, separated by commas", default: ScopeList()),
        OutputFormat.declared
    ) { name, apps, scopes, output in
        let key = CallerKey()
        let entry: JSONValue = [
            "name": .string(name.text), "key-sha256": .string(try key.hash),
            "apps": .array(apps.names.map(JSONValue.string)),
            "scopes": .array(scopes.scopes.map { .string($0.rawValue) }),
        ]
        guard !output.isJSON else {
            return Terminal.output.write(
                JSONValue.object([.init("key", .string(key.text)), .init("entry", entry)]).line
            )
        }
        Terminal.errors.write("The API key, for the client; it cannot be shown again:\n")
        Terminal.output.write(key.text + "\n")
        Terminal.errors.write("\nThe entry for \"callers\" in the configuration of the relay:\n")
        Terminal.output.write(entry.line)
    }
}

/// Text that is not empty.
struct NonemptyText: ArgumentValue {
    let text: String

    init(argument: String) throws(UsageError) {
        guard !argument.isEmpty else { throw UsageError("must not be empty") }
        text = argument
    }

    static var valueName: String { "text" }
}

/// Names of apps, separated by commas.
struct AppList: ArgumentValue {
    let names: [String]

    init(argument: String) throws(UsageError) {
        names = argument.split(separator: ",").map(String.init)
        guard !names.isEmpty else { throw UsageError("must name at least one app") }
    }

    static var valueName: String { "names" }
}

/// Scopes, separated by commas.
struct ScopeList: ArgumentValue, CustomStringConvertible {
    typealias Scope = RelayConfiguration.Caller.Scope

    var scopes = [Scope.send, .read]
    var description: String { scopes.map(\.rawValue).joined(separator: ",") }

    init() {}

    init(argument: String) throws(UsageError) {
        scopes = []
        for name in argument.split(separator: ",") {
            guard let scope = Scope(rawValue: String(name)) else {
                let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("must be a list of \(known) (found \(ShownValue.quoted(name)))")
            }
            scopes.append(scope)
        }
        guard !scopes.isEmpty else { throw UsageError("must name at least one scope") }
    }

    static var valueName: String { "scopes" }
}

extension RelayConfiguration {
    /// The likely mistakes, and the keys that expire soon.
    fileprivate var allWarnings: [String] { warnings + expiryWarnings(at: Date().secondsSince1970).map(\.description) }

    /// The validated configuration as JSON.
    fileprivate var json: JSONValue {
        let listeners = listeners.sorted { $0.key.rawValue < $1.key.rawValue }
        var members: [JSONValue.Member] = [
            .init("valid", true), .init("data", .string("\(data)")),
            .init("listen", .object(listeners.map { .init($0.key.rawValue, .string("\($0.value)")) })),
        ]
        if let http { members.append(.init("http", .string("http://\(http)"))) }
        let apps = apps.map { app -> JSONValue in
            [
                "name": .string(app.name), "bundle-ids": .array(app.bundleIDs.map(JSONValue.string)),
                "environments": .array(app.environments.map { .string($0.rawValue) }),
                "team-id": .string(app.key.teamID), "key-id": .string(app.key.keyID),
                "webhook": app.webhook.map { .string($0.url) } ?? .null,
            ]
        }
        let callers = callers.map { caller -> JSONValue in
            [
                "name": .string(caller.name), "apps": .array(caller.apps.sorted().map(JSONValue.string)),
                "scopes": .array(caller.scopes.map(\.rawValue).sorted().map(JSONValue.string)),
            ]
        }
        let proxies = checkedProxiedServers.map { connection -> JSONValue in
            ["server": .string(connection.server), "proxy": .string(connection.proxy)]
        }
        return .object(
            members + [
                .init("apps", .array(apps)), .init("callers", .array(callers)),
                .init("proxies", .array(proxies)),
                .init("warnings", .array(allWarnings.map(JSONValue.string))),
            ]
        )
    }

    /// The validated configuration as text.
    fileprivate var summary: String {
        var lines = [
            "Stores up to \(outbox.limit.counted("push")) in \(data)\(durability)."
        ]
        for environment in PushEnvironment.allCases {
            guard let address = listeners[environment] else { continue }
            let transport = identity == nil ? "without TLS" : "over TLS"
            lines.append("Accepts pushes for \(environment.rawValue) at \(address), \(transport).")
        }
        if let http { lines.append("Serves the JSON interface at http://\(http).") }
        for (environment, endpoint) in endpoints.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let server = HostPort(host: endpoint.endpoint.host, port: endpoint.endpoint.port)
            lines.append("Sends pushes for \(environment.rawValue) to \(server), not to Apple.")
        }
        if let telemetry { lines.append(telemetry.summary) }
        lines += checkedProxiedServers.map { "Connects to \($0.server) through the proxy \($0.proxy)." }
        return (lines + ["", appTable + "\n" + callerTable]).joined(separator: "\n")
    }

    /// The servers that the relay connects to through a proxy; the configuration has been checked, so that no
    /// variable is invalid.
    private var checkedProxiedServers: [ProxiedServer] { (try? proxiedServers()) ?? [] }

    /// The durability of a commit.
    private var durability: String {
        guard case .file = data else { return ", shared with other relays as \(node)" }
        return "; a commit survives " + (outbox.durability == .full ? "a loss of power" : "the end of the process")
    }

    private var appTable: String {
        var table = Table([
            "app", "bundle identifiers", "environments", "team", "key", Table.Column("rate", isNumeric: true),
            Table.Column("connections", isNumeric: true), "webhook",
        ])
        for app in apps {
            table.add([
                Table.Cell(app.name), Table.Cell(app.bundleIDs.joined(separator: ", ")),
                Table.Cell(app.environments.map(\.rawValue).joined(separator: ", ")), Table.Cell(app.key.teamID),
                Table.Cell(app.key.keyID), Table.Cell(app.rate.map { "\($0)/s" } ?? "-"),
                Table.Cell(app.connections.map(String.init) ?? "-"), Table.Cell(app.webhook?.url ?? "-"),
            ])
        }
        return table.text(for: .output)
    }

    private var callerTable: String {
        guard !callers.isEmpty else {
            return "No callers have API keys; clients can authenticate with an app's signing key.\n"
        }
        var table = Table(["caller", "apps", "scopes"])
        for caller in callers {
            table.add([
                Table.Cell(caller.name), Table.Cell(caller.apps.sorted().joined(separator: ", ")),
                Table.Cell(caller.scopes.map(\.rawValue).sorted().joined(separator: ", ")),
            ])
        }
        return table.text(for: .output)
    }
}
