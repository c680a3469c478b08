internal import APNs
package import Outbox

/// Settings of the environment or the command line, which stand in for those of a configuration's file.
package struct RelayOverrides: Sendable, Hashable {
    /// `data`.
    package var data: String?
    /// `listen`, by environment.
    package var listeners: [PushEnvironment: String] = [:]
    /// `http`.
    package var http: String?
    /// `log-level`.
    package var logLevel: Logger.Level?
    /// `log-format`.
    package var logFormat: Logger.Format?
    /// The variables that OpenTelemetry's specification names, which stand in for `telemetry`.
    package var openTelemetry: [String: String] = [:]

    /// No settings.
    package init() {}

    /// A configuration in which these settings are the ones that count.
    func applied(to root: JSONValue) -> JSONValue {
        guard root.members != nil else { return root }
        var root = root
        root.set("data", data)
        root.set("http", http)
        root.set("log-level", logLevel?.rawValue)
        root.set("log-format", logFormat?.rawValue)
        var listen = root["listen"] ?? .object([])
        // A list of addresses that is none is for the reader to complain of.
        guard !listeners.isEmpty, listen.members != nil else { return root }
        for (environment, address) in listeners { listen.set(environment.rawValue, address) }
        root.set("listen", listen)
        return root
    }
}

extension JSONValue {
    fileprivate mutating func set(_ name: String, _ text: String?) {
        if let text { set(name, .string(text)) }
    }

    /// Puts a value in the place of a member.
    fileprivate mutating func set(_ name: String, _ value: JSONValue) {
        let others = (members ?? []).filter { $0.name != name }
        self = .object(others + [Member(name, value)])
    }
}
