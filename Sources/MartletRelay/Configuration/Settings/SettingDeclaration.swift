// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The description of a setting of the configuration file: the source of the table in the article
/// <doc:RelaySettings>, of the JSON Schema of the file, and of the command's options.
struct SettingDeclaration: Sendable {
    /// The way to change a setting of a running relay.
    enum Change: String, Sendable {
        /// SIGHUP, or `systemctl reload`.
        case reload
        /// A restart; a reload logs a warning.
        case restart
    }

    /// The way to set a value on the command line and in the environment.
    enum Option: Sendable {
        /// The file alone has the setting.
        case none
        /// An option has the name of the setting, and the environment variable is derived from it.
        case named
        /// As ``named``, with another environment variable.
        case variable(String)
    }

    /// The name in the object that has the setting.
    var name: String
    /// The type and the values that it may have.
    let type: SettingDescription
    /// The value when the setting is missing; nil for a setting that must be present.
    let fallback: String?
    /// The default as JSON; nil when it is no constant.
    let fallbackValue: JSONValue?
    /// The way to change it while the relay runs.
    let change: Change
    /// The purpose, in a sentence without the final stop; `{environment}` stands for an environment.
    var help: String
    /// The option that replaces the value of the file.
    let option: Option

    /// Whether a configuration without the setting is invalid.
    var isRequired: Bool { fallback == nil }
}

/// The description of a type of settings.
struct SettingDescription: Sendable {
    /// The relation of a type to the settings in it.
    enum Nesting: Sendable {
        /// The value is an object with the settings.
        case object
        /// The value is a list of such objects.
        case list
        /// The value is an object with members for Apple's environments, which a setting named `{environment}`
        /// describes.
        case environments
    }

    /// The type and its values, for the table.
    let summary: String
    /// The members of the JSON Schema, except those about nested settings.
    let schema: [JSONValue.Member]
    /// The settings in an object of the type.
    var members: [SettingDeclaration] = []
    /// Settings of the object of which at least one must be present.
    var alternatives: [String] = []
    var nesting = Nesting.object
    /// The valid values of a choice.
    var choices: [String] = []
    /// Whether a value is the path of a file.
    var isFile = false
    /// Checks text from the command line.
    var checkText: @Sendable (String) throws(RelayError) -> Void = { _ in }
}
