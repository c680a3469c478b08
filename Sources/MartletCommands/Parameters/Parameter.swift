// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A declared parameter: its spelling, its help, and the function that takes its value from the words of a command
/// line.
package protocol Parameter: Sendable {
    /// The type that the command's closure receives.
    associatedtype Value: Sendable

    /// The spelling and the help; several for a ``Group``.
    var descriptions: [ParameterDescription] { get }

    /// Removes the parameter's words and returns their value.
    func take(from reader: inout ArgumentReader) throws(UsageError) -> Value
}

/// The spelling and the help of a parameter.
package struct ParameterDescription: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case option
        case flag
        case argument
    }

    var kind: Kind
    /// `--name`, or an argument's name.
    var spelling: String
    /// The name of a value in the help; empty for flags.
    var valueName = ""
    var help: String
    var isRequired = false
    var isRepeatable = false
    /// The default value as text; nil for none.
    var fallback: String?
    /// The valid values; empty if the parameter is not a choice.
    var choices: [String] = []
    /// A line about each of the choices; empty if their names are self-explanatory.
    var choiceSummaries: [String] = []
    /// Whether a value is the path of a file.
    var isFile = false
    /// Whether the value `-` is standard input.
    var readsStandardInput = false
    /// The environment variable; nil if it is derived from the spelling.
    var ownVariable: String?

    init(_ kind: Kind, _ spelling: String, _ help: String) {
        self.kind = kind
        self.spelling = spelling
        self.help = help
    }

    /// Creates the description of an option or argument with values of a type.
    init<Value: ArgumentValue>(_ kind: Kind, _ spelling: String, of type: Value.Type, _ help: String) {
        self.init(kind, spelling, help)
        valueName = kind == .option ? Value.valueName : ""
        choices = Value.choices
        isFile = Value.isFile
        readsStandardInput = Value.readsStandardInput
    }

    /// The parameter in the help and in messages.
    var label: String {
        switch kind {
        case .option: "\(spelling) <\(valueName)>"
        case .flag: spelling
        case .argument: "<\(spelling)>"
        }
    }

    /// Whether the environment variable is not derived from the spelling.
    var hasOwnVariable: Bool { ownVariable != nil }

    /// The environment variable that sets an option or flag that is not on the command line.
    var variable: String {
        ownVariable
            ?? "MARTLET_" + spelling.drop { $0 == "-" }.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    var missing: UsageError {
        let source = kind == .option ? " (or the variable \(variable))" : ""
        // The label of an option has its choices.
        let names = kind == .argument && !choices.isEmpty ? " (one of \(choices.joined(separator: ", ")))" : ""
        return UsageError("\(label) is missing\(source): \(help)\(names)")
    }
}

/// A type whose values can be parsed from a command line.
package protocol ArgumentValue: Sendable {
    /// Parses a value.
    ///
    /// - Throws: ``UsageError`` with the rule that the text breaks.
    init(argument: String) throws(UsageError)

    /// Parses a value, for a type whose later errors name the source of the text.
    ///
    /// - Parameters:
    ///   - argument: The text.
    ///   - source: The option or the environment variable that the text comes from; nil for an argument.
    /// - Throws: ``UsageError`` with the rule that the text breaks.
    init(argument: String, source: String?) throws(UsageError)

    /// The name of a value in the help; by default the choices, if they are short.
    static var valueName: String { get }
    /// The valid values, in the order of the help; empty, the default, if the type is not a choice.
    static var choices: [String] { get }
    /// A line about each of the choices, for a table in the help; empty, the default, if their names are
    /// self-explanatory.
    static var choiceSummaries: [String] { get }
    /// Whether a value is the path of a file; false by default.
    static var isFile: Bool { get }
    /// Whether the value `-` is standard input, which one parameter of a command can be; false by default.
    static var readsStandardInput: Bool { get }
}

extension ArgumentValue {
    /// The maximum length of a list of choices that is used as the name of a value.
    private static var longestName: Int { 30 }

    package init(argument: String, source: String?) throws(UsageError) {
        try self.init(argument: argument)
    }

    package static var valueName: String {
        let name = choices.joined(separator: "|")
        return name.isEmpty || name.count > longestName ? "name" : name
    }

    package static var choices: [String] { [] }

    package static var choiceSummaries: [String] { [] }

    package static var isFile: Bool { false }

    package static var readsStandardInput: Bool { false }

    /// Returns the error for text that is not one of the choices.
    package static func invalidChoice(_ text: String) -> UsageError {
        UsageError(
            "must be one of \(choices.joined(separator: ", ")) (found \(ShownValue.quoted(text)))"
                + NearestName.hint(for: text, among: choices)
        )
    }
}

/// The path of a file or directory that a command opens itself.
package struct FilePath: ArgumentValue {
    /// The path as given.
    package let path: String

    /// Creates a path from text, which must not be empty.
    package init(argument: String) throws(UsageError) {
        guard !argument.isEmpty else { throw UsageError("must not be empty") }
        path = argument
    }

    package static var valueName: String { "path" }
    package static var isFile: Bool { true }
}

extension String: ArgumentValue {
    /// Returns the text unchanged.
    package init(argument: String) {
        self = argument
    }

    package static var valueName: String { "text" }
}

extension FixedWidthInteger where Self: ArgumentValue {
    /// Parses an integer in the type's range.
    package init(argument: String) throws(UsageError) {
        guard let number = Self(argument) else {
            let range = Self.bitWidth < 64 ? " from \(Self.min) to \(Self.max)" : ""
            throw UsageError("must be an integer\(range) (found \(ShownValue.quoted(argument)))")
        }
        self = number
    }

    package static var valueName: String { "number" }
}

extension Int: ArgumentValue {}
extension Int64: ArgumentValue {}
extension UInt16: ArgumentValue {}
extension UInt32: ArgumentValue {}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// Parses a case from its raw value.
    package init(argument: String) throws(UsageError) {
        guard let value = Self(rawValue: argument) else { throw Self.invalidChoice(argument) }
        self = value
    }

    package static var choices: [String] { allCases.map(\.rawValue) }
}
