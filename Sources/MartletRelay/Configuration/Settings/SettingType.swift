// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A value of a configuration, with its path for error messages.
typealias ConfigurationField = JSONField<RelayError>

extension RelayError: JSONFieldError {
    package init(_ message: String, at path: JSONPath) {
        self.init(message)
    }
}

/// The type of a setting: its description, and the function that reads a value.
struct SettingType<Value: Sendable>: Sendable {
    var description: SettingDescription
    let read: @Sendable (ConfigurationField, ConfigurationDirectories) throws(RelayError) -> Value
    /// Returns the JSON of a constant default.
    let json: @Sendable (Value) -> JSONValue

    /// Creates a type; its JSON is null for a type that has no constant default.
    init(
        _ summary: String,
        schema: JSONValue,
        json: @escaping @Sendable (Value) -> JSONValue = { _ in .null },
        read: @escaping @Sendable (ConfigurationField, ConfigurationDirectories) throws(RelayError) -> Value
    ) {
        description = SettingDescription(summary: summary, schema: schema.members ?? [])
        self.read = read
        self.json = json
    }
}

// MARK: Texts

extension SettingType where Value == String {
    /// Text that is not empty.
    static let text = text("text")

    /// Returns the type of text that is not empty.
    static func text(_ summary: String) -> SettingType {
        SettingType(summary, schema: ["type": "string", "minLength": 1], json: JSONValue.string) {
            (field, _) throws(RelayError) in
            try field.nonemptyText()
        }
    }

    /// The text of a file, named by its path.
    static let file = SettingType("path", schema: ["type": "string", "minLength": 1]) {
        (field, places) throws(RelayError) in
        try places.text(try field.nonemptyText(), field.path.description)
    }

    /// The text of a file with a secret, named by its path.
    static let secretFile = SettingType("path", schema: ["type": "string", "minLength": 1]) {
        (field, places) throws(RelayError) in
        try places.text(try field.nonemptyText(), isSecret: true, field.path.description)
    }

    /// The path of a file with a secret, which is read later, or PEM text.
    static let secretPath = SettingType("path", schema: ["type": "string", "minLength": 1]) {
        (field, places) throws(RelayError) in
        try places.pathOrPEM(try field.nonemptyText(), isSecret: true, field.path.description)
    }

    /// The hexadecimal digits of a SHA-256, in lower case; read with or without colons.
    static let hash = SettingType(
        "64 hexadecimal digits",
        schema: ["type": "string", "pattern": "^([0-9A-Fa-f]:?){63}[0-9A-Fa-f]$"]
    ) { (field, _) throws(RelayError) in
        let hash = try field.nonemptyText().lowercased().filter { $0 != ":" }
        guard hash.utf8.count == 64, hash.utf8.allSatisfy(\.isHexadecimalDigit) else {
            throw field.mismatch("the 64 hexadecimal digits of a SHA-256")
        }
        return hash
    }
}

extension SettingType where Value == [String] {
    /// A list of strings that has at least one.
    static let texts = SettingType(
        "list of text",
        schema: ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]]
    ) { (field, _) throws(RelayError) in
        let texts = try field.texts()
        guard !texts.isEmpty else { throw field.error("must name at least one") }
        return texts
    }
}

// MARK: Numbers

extension SettingType {
    /// Returns the type of integers within bounds that are converted to a value.
    private static func integer(
        _ range: ClosedRange<Int>,
        json: @escaping @Sendable (Value) -> Int64,
        _ value: @escaping @Sendable (Int) -> Value
    ) -> SettingType {
        SettingType(
            "\(range.lowerBound) to \(range.upperBound)",
            schema: ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)],
            json: { .integer(json($0)) },
            read: { (field, _) throws(RelayError) in value(try field.integer(in: range)) }
        )
    }
}

extension SettingType where Value == Int {
    /// Returns the type of integers within bounds.
    static func integer(_ range: ClosedRange<Int>) -> SettingType {
        integer(range, json: { Int64($0) }, { $0 })
    }
}

extension SettingType where Value == UInt16 {
    static let port = integer(1...65_535, json: { Int64($0) }, { UInt16($0) })
}

extension SettingType where Value == Duration {
    /// Returns the type of durations in whole seconds.
    static func seconds(_ range: ClosedRange<Int>) -> SettingType {
        integer(range, json: \.components.seconds, { .seconds($0) })
    }
}

extension SettingType where Value == Int64 {
    private static var millisecondsPerDay: Int64 { 86_400_000 }

    /// Returns the type of numbers of days, which are read as milliseconds.
    static func days(_ range: ClosedRange<Int>) -> SettingType {
        integer(range, json: { $0 / millisecondsPerDay }, { Int64($0) * millisecondsPerDay })
    }
}

extension SettingType where Value == Double {
    /// A number from 0 to 1.
    static let share = SettingType(
        "0 to 1",
        schema: ["type": "number", "minimum": 0, "maximum": 1],
        json: { JSONValue.double($0) ?? .null },
        read: { (field, _) throws(RelayError) in try field.number(in: 0...1) }
    )
}

// MARK: Choices

extension SettingType where Value == Bool {
    /// `true` or `false`.
    static let flag = SettingType(
        "`true` or `false`",
        schema: ["type": "boolean"],
        json: JSONValue.bool,
        read: { (field, _) throws(RelayError) in try field.bool() }
    )
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// One of several names.
    static var choice: SettingType {
        let names = Value.allCases.map(\.rawValue)
        let quoted = names.map { "`\($0)`" }
        var type = SettingType(
            quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? ""),
            schema: ["enum": .array(names.map(JSONValue.string))],
            json: { .string($0.rawValue) },
            read: { (field, _) throws(RelayError) in try field.choice() }
        )
        type.description.choices = names
        type.description.checkText = { (text) throws(RelayError) in
            _ = try ConfigurationField(.string(text), named: "").choice(of: Value.self)
        }
        return type
    }
}

extension SettingType {
    /// A list of at least one of several names.
    static func choices<Choice>() -> SettingType
    where Value == [Choice], Choice: RawRepresentable<String> & CaseIterable & Sendable {
        let names = Choice.allCases.map(\.rawValue)
        return SettingType(
            "list of " + names.map { "`\($0)`" }.joined(separator: ", "),
            schema: [
                "type": "array", "minItems": 1, "items": ["enum": .array(names.map(JSONValue.string))],
            ],
            json: { .array($0.map { .string($0.rawValue) }) },
            read: { (field, _) throws(RelayError) in
                let choices = try field.elements().map { (element) throws(RelayError) in
                    try element.choice(of: Choice.self)
                }
                guard !choices.isEmpty else {
                    throw field.error("must name at least one of " + names.joined(separator: ", "))
                }
                return choices
            }
        )
    }
}

// MARK: Objects

/// A part of the configuration that is an object with settings.
protocol ConfigurationPart: Sendable {
    /// The settings of the object.
    static var settings: [Setting<Self>] { get }
    /// The settings of which the object needs at least one; empty, the default, if it needs none.
    static var alternatives: [String] { get }

    /// Reads an object whose members have been checked.
    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError)
}

extension ConfigurationPart {
    static var alternatives: [String] { [] }
}

extension SettingType where Value: ConfigurationPart {
    /// The type of objects that are a part of the configuration.
    static var object: SettingType {
        object(Value.settings, oneOf: Value.alternatives) { (object, places) throws(RelayError) in
            try Value(object, places)
        }
    }
}

extension SettingType {
    /// Returns the type of objects with settings, of which at least one of the alternatives must be present.
    ///
    /// The members have been checked when a value is read.
    static func object<Owner>(
        _ settings: [Setting<Owner>],
        oneOf alternatives: [String] = [],
        read: @escaping @Sendable (ConfigurationField, ConfigurationDirectories) throws(RelayError) -> Value
    ) -> SettingType {
        let declarations = settings.map(\.declaration)
        var type = SettingType("object", schema: ["type": "object"]) { (field, places) throws(RelayError) in
            try field.check(declarations, oneOf: alternatives)
            return try read(field, places)
        }
        type.description.members = declarations
        type.description.alternatives = alternatives
        return type
    }

    /// Returns the type of lists of objects.
    static func list<Element>(of element: SettingType<Element>) -> SettingType where Value == [Element] {
        var type = SettingType("list of objects", schema: ["type": "array"]) { (field, places) throws(RelayError) in
            try field.elements().map { (field) throws(RelayError) in try element.read(field, places) }
        }
        type.description.members = element.description.members
        type.description.alternatives = element.description.alternatives
        type.description.nesting = .list
        return type
    }
}

extension ConfigurationField {
    /// Checks that the object has only declared members, all required ones, and one of the alternatives.
    func check(_ declarations: [SettingDeclaration], oneOf alternatives: [String] = []) throws(RelayError) {
        try checkMembers(declarations.map(\.name))
        var missing = declarations.filter { $0.isRequired && !self[$0.name].isPresent }.map {
            self[$0.name].path.description
        }
        if !alternatives.isEmpty, !alternatives.contains(where: { self[$0].isPresent }) {
            missing.append(alternatives.map { self[$0].path.description }.joined(separator: " or "))
        }
        guard !missing.isEmpty else { return }
        throw RelayError("\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing")
    }
}
