import APNs
import APNsClient
import Commands
import Outbox
import Relay
import Wire

extension Command {
    /// Reads a relay's configuration, and does nothing with it.
    static let relayCheck = Command(
        "relay check",
        "Read a relay's configuration, say what it would serve, and open nothing",
        examples: ["relay check --configuration relay.json"],
        RelayOptions.declared
    ) { options in
        let configuration = try options.configuration()
        Terminal.output.write(configuration.summary)
        for remark in configuration.remarks { Terminal.errors.write("remark: \(remark)\n") }
    }

    /// Makes a key for a caller.
    static let relayKeysMake = Command(
        "relay keys make",
        "Make a key for a caller of a relay; it is shown once and kept nowhere",
        examples: ["relay keys make --name 'back end' --apps orders,rides --scopes send,read"],
        Option<String>("--name", "What logs and people know the key by"),
        Option<String>("--apps", "The apps that it is for, separated by commas"),
        Option<ScopeList>("--scopes", "What it may do, separated by commas", default: ScopeList())
    ) { name, apps, scopes in
        let key = CallerKey()
        let entry: JSONValue = [
            "name": .string(name), "key-sha256": .string(try key.hash),
            "apps": .array(apps.split(separator: ",").map { .string(String($0)) }),
            "scopes": .array(scopes.scopes.map { .string($0.rawValue) }),
        ]
        Terminal.errors.write("The key, which its holder keeps in a file; it cannot be shown again:\n")
        Terminal.output.write(key.text + "\n")
        Terminal.errors.write("\nThe entry for callers of the relay's configuration:\n")
        Terminal.output.write(String(decoding: entry.encoded(), as: UTF8.self) + "\n")
    }
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
                throw UsageError("\"\(name)\" is none of \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            scopes.append(scope)
        }
    }

    static var valueName: String { "scopes" }
}

extension RelayConfiguration {
    /// What it would serve, for people.
    fileprivate var summary: String {
        var lines = [
            "Keeps pushes in \(data), \(outbox.limit) at most\(promise)."
        ]
        for environment in PushEnvironment.allCases {
            guard let address = listeners[environment] else { continue }
            let cover = identity == nil ? "in the clear" : "over TLS"
            lines.append("Takes pushes for \(environment.rawValue) at \(address), \(cover).")
        }
        if let http { lines.append("Answers in JSON at http://\(http).") }
        for (environment, endpoint) in endpoints.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines.append(
                "Takes \(endpoint.endpoint.host):\(endpoint.endpoint.port) for Apple's \(environment.rawValue)."
            )
        }
        lines += telemetry?.summary ?? []
        return (lines + ["", appTable + "\n" + callerTable]).joined(separator: "\n")
    }

    /// What a commit survives.
    private var promise: String {
        guard case .file = data else { return ", shared with other relays as \(node)" }
        return "; a commit survives " + (outbox.durability == .full ? "a loss of power" : "the end of the process")
    }

    private var appTable: String {
        var table = Table([
            "app", "bundle identifiers", "environments", "team", "key", Table.Column("rate", isNumeric: true),
            Table.Column("connections", isNumeric: true),
        ])
        for app in apps {
            table.add([
                Table.Cell(app.name), Table.Cell(app.bundleIDs.joined(separator: ", ")),
                Table.Cell(app.environments.map(\.rawValue).joined(separator: ", ")), Table.Cell(app.key.teamID),
                Table.Cell(app.key.keyID), Table.Cell(app.rate.map { "\($0)/s" } ?? "-"),
                Table.Cell(app.connections.map(String.init) ?? "-"),
            ])
        }
        return table.text(for: .output)
    }

    private var callerTable: String {
        guard !callers.isEmpty else {
            return "No callers with keys of the relay's; an app's own signing key is enough to send.\n"
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
