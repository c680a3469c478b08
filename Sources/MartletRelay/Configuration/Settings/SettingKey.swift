// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A setting of the configuration file with its type: declared once, in the file of the type that it configures.
struct SettingKey<Value: Sendable>: Sendable {
    /// The value when the setting is missing.
    enum Fallback: Sendable {
        /// The setting must be present.
        case required
        /// The setting has a constant default.
        case value(Value)
        /// The setting is optional; the words describe the behaviour without it.
        case described(String)

        /// An optional setting without a default.
        static var none: Fallback { .described("none") }
    }

    private(set) var declaration: SettingDeclaration
    private let type: SettingType<Value>
    private let fallback: Fallback

    /// Declares a setting; ``help(_:)`` adds its purpose.
    init(
        _ name: String,
        _ type: SettingType<Value>,
        _ fallback: Fallback,
        _ change: SettingDeclaration.Change,
        option: SettingDeclaration.Option = .none
    ) {
        self.type = type
        self.fallback = fallback
        let (words, value): (String?, JSONValue?) =
            switch fallback {
            case .required: (nil, nil)
            case .value(let value): (type.json(value).markdown, type.json(value))
            case .described(let words): (words, nil)
            }
        declaration = SettingDeclaration(
            name: name,
            type: type.description,
            fallback: words,
            fallbackValue: value,
            change: change,
            help: "",
            option: option
        )
    }

    /// Returns the setting with its purpose, in a sentence without the final stop.
    func help(_ text: String) -> SettingKey {
        var key = self
        key.declaration.help = text
        return key
    }

    /// Returns the value of an object's member, or the default; throws if a required setting is missing.
    func value(in object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) -> Value {
        if case .value(let value) = fallback, !object[declaration.name].isPresent { return value }
        return try type.read(object[declaration.name], places)
    }

    /// Returns the value of an object's member; nil when it is missing.
    func valueIfPresent(in object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) -> Value?
    {
        guard let field = object[declaration.name].ifPresent else { return nil }
        return try type.read(field, places)
    }
}

extension JSONValue {
    /// The value as in the table: a number, or code without the quotation marks of a string.
    fileprivate var markdown: String {
        let text = stringValue ?? String(decoding: encoded(), as: UTF8.self)
        return if case .number = self { text } else { "`\(text)`" }
    }
}
