internal import MartletCore
package import MartletOutbox

/// The settings from the environment or the command line, which replace those of the configuration file.
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
    /// The variables of OpenTelemetry's specification, which replace settings of `telemetry`.
    package var openTelemetry: [String: String] = [:]

    /// Creates overrides without settings.
    package init() {}

    /// Returns a configuration with these settings replaced.
    func applied(to root: JSONValue) -> JSONValue {
        guard root.members != nil else { return root }
        var root = root
        root.set("data", data)
        root.set("http", http)
        root.set("log-level", logLevel?.rawValue)
        root.set("log-format", logFormat?.rawValue)
        var listen = root["listen"] ?? .object([])
        // A `listen` that is not an object is rejected when the configuration is read.
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

    /// Sets a member, replacing an existing one.
    fileprivate mutating func set(_ name: String, _ value: JSONValue) {
        let others = (members ?? []).filter { $0.name != name }
        self = .object(others + [Member(name, value)])
    }
}
