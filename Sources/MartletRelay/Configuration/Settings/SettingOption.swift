// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// An option of the command that replaces a setting of the configuration file.
package struct SettingOption: Sendable {
    /// The names of the members that lead to the setting.
    let path: [String]
    private let setting: SettingDeclaration

    /// The option's name without dashes.
    package var name: String { path.joined(separator: "-") }
    /// The purpose, in a sentence without the final stop.
    package var help: String {
        let text = setting.help.filter { $0 != "`" }
        return text.prefix(1).uppercased() + text.dropFirst()
    }
    /// The environment variable; nil to derive it from the name.
    package var variable: String? {
        if case .variable(let name) = setting.option { name } else { nil }
    }
    /// The valid values; empty if the setting is not a choice.
    package var choices: [String] { setting.type.choices }
    /// Whether a value may be the path of a file.
    package var isFile: Bool { setting.type.isFile }

    /// Checks a value.
    ///
    /// - Throws: ``RelayError`` with the rule that the value breaks.
    package func check(_ text: String) throws(RelayError) { try setting.type.checkText(text) }

    /// All options, in the order of the settings.
    package static let all: [SettingOption] = RelayConfiguration.settings.flatMap { setting in
        options(for: setting.declaration, at: [setting.declaration.name])
    }

    private static func options(for setting: SettingDeclaration, at path: [String]) -> [SettingOption] {
        if case .environments = setting.type.nesting {
            return PushEnvironment.allCases.flatMap { environment in
                setting.type.members.flatMap { options(for: $0.named(environment), at: path + [environment.rawValue]) }
            }
        }
        if case .none = setting.option { return [] }
        return [SettingOption(path: path, setting: setting)]
    }
}

extension SettingDeclaration {
    /// Returns the setting of one environment, declared by ``SettingType/environments(_:fallback:_:_:option:)``.
    func named(_ environment: PushEnvironment) -> SettingDeclaration {
        var setting = self
        setting.name = environment.rawValue
        setting.help = help.replacing("{environment}", with: environment.rawValue)
        return setting
    }
}
