// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletTransport

/// The settings from the environment or the command line, which replace those of the configuration file.
package struct RelayOverrides: Sendable {
    private var values: [(option: SettingOption, text: String)] = []
    /// The variables of OpenTelemetry's specification, which replace settings of `telemetry`.
    package var openTelemetry: [String: String] = [:]
    /// The HTTP proxies of the environment.
    package var proxies = HTTPProxies()

    /// Creates overrides without settings.
    package init() {}

    /// Replaces the setting of an option.
    package mutating func set(_ option: SettingOption, to text: String) {
        values.append((option, text))
    }

    /// Returns a configuration with these settings replaced.
    func applied(to root: JSONValue) -> JSONValue {
        values.reduce(root) { $0.replacing($1.option.path[...], with: .string($1.text)) }
    }
}

extension JSONValue {
    /// Returns the value with a member replaced; objects on the way to it are created, and other values, which are
    /// rejected when the configuration is read, are unchanged.
    fileprivate func replacing(_ path: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard let members else { return self }
        let member = (self[name] ?? .object([])).replacing(path.dropFirst(), with: value)
        return .object(members.filter { $0.name != name } + [Member(name, member)])
    }
}
