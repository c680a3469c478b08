// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletOutbox

/// The JSON Schema of the configuration file, for editors and for checks without a relay.
package enum ConfigurationSchema {
    /// The schema (draft 2020-12).
    package static var document: JSONValue {
        let file = object(RelayConfiguration.settings.map(\.declaration), oneOf: RelayConfiguration.addresses)
        return .object(
            [
                .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
                .init("title", "Configuration of a Martlet relay"), .init("type", "object"),
            ] + file
        )
    }

    /// Returns the members of a schema that describe the settings of an object.
    private static func object(
        _ settings: [SettingDeclaration],
        oneOf alternatives: [String] = []
    ) -> [JSONValue.Member] {
        let required = settings.filter(\.isRequired).map(\.name)
        let members = JSONValue.members([
            "properties": .object(settings.map { .init($0.name, schema(of: $0)) }), "additionalProperties": false,
            "required": required.isEmpty ? nil : .strings(required),
            "anyOf": alternatives.isEmpty ? nil : .array(alternatives.map { ["required": [.string($0)]] }),
        ])
        return members.members ?? []
    }

    private static func schema(of setting: SettingDeclaration) -> JSONValue {
        var members = setting.type.schema
        members.append(.init("description", .string(setting.help)))
        if let value = setting.fallbackValue { members.append(.init("default", value)) }
        let nested = setting.type.members
        guard !nested.isEmpty else { return .object(members) }
        switch setting.type.nesting {
        case .object:
            members += object(nested, oneOf: setting.type.alternatives)
        case .list:
            let element = [.init("type", "object")] + object(nested, oneOf: setting.type.alternatives)
            members.append(.init("items", .object(element)))
        case .environments:
            let properties = PushEnvironment.allCases.flatMap { environment in
                nested.map { JSONValue.Member(environment.rawValue, schema(of: $0.named(environment))) }
            }
            members += [.init("properties", .object(properties)), .init("additionalProperties", false)]
        }
        return .object(members)
    }
}
