/// A declared parameter: its spelling, its help, and how it is read from the words of a command line.
package protocol Parameter: Sendable {
    /// The type that the command's closure receives.
    associatedtype Value: Sendable

    /// The spelling and the help; several for a ``Group``.
    var descriptions: [ParameterDescription] { get }

    /// Takes the value out of the words.
    func take(from words: inout Words) throws(UsageError) -> Value
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
    /// The name of a value in help; empty for flags.
    var valueName = ""
    var help: String
    var isRequired = false
    var isRepeatable = false
    /// The value when none is given, as text; nil for none.
    var fallback: String?
    /// The values that there are; empty for values that are not a choice.
    var choices: [String] = []
    /// One line about each of the choices; empty where their names are enough.
    var choiceSummaries: [String] = []
    /// Whether a value is the path of a file.
    var isFile = false
    /// The environment variable, where it is not the one that follows from the spelling.
    var ownVariable: String?

    /// The parameter in help and messages.
    var label: String {
        switch kind {
        case .option: "\(spelling) <\(valueName)>"
        case .flag: spelling
        case .argument: "<\(spelling)>"
        }
    }

    /// Whether the environment variable does not follow from the spelling.
    var hasOwnVariable: Bool { ownVariable != nil }

    /// The environment variable that sets an option or a flag that is not on the command line.
    var variable: String {
        ownVariable
            ?? "MARTLET_" + spelling.drop { $0 == "-" }.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    var missing: UsageError {
        UsageError("\(label) is missing\(kind == .option ? " (or the variable \(variable))" : ""): \(help)")
    }
}

/// A type whose values are written on a command line.
package protocol ArgumentValue: Sendable {
    /// The value that the text stands for.
    ///
    /// - Throws: ``UsageError`` with the rule that the text breaks.
    init(argument: String) throws(UsageError)

    /// The value that the text stands for, for a type whose later errors name the source of the text.
    ///
    /// - Parameters:
    ///   - argument: The text.
    ///   - source: The option or the environment variable that the text comes from; nil for an argument.
    /// - Throws: ``UsageError`` with the rule that the text breaks.
    init(argument: String, source: String?) throws(UsageError)

    /// The name of a value in help; the choices by default, when they are short.
    static var valueName: String { get }
    /// The values that there are, in the order of help; none, the default, for values that are not a choice.
    static var choices: [String] { get }
    /// One line about each of the choices, for a table in the help; none, the default, where their names are enough.
    static var choiceSummaries: [String] { get }
    /// Whether a value is the path of a file; false by default.
    static var isFile: Bool { get }
}

extension ArgumentValue {
    /// The longest list of choices that stands in place of a name.
    private static var longestName: Int { 30 }

    /// Part of `ArgumentValue`.
    package init(argument: String, source: String?) throws(UsageError) {
        try self.init(argument: argument)
    }

    /// Part of `ArgumentValue`.
    package static var valueName: String {
        let name = choices.joined(separator: "|")
        return name.isEmpty || name.count > longestName ? "name" : name
    }

    /// Part of `ArgumentValue`.
    package static var choices: [String] { [] }

    /// Part of `ArgumentValue`.
    package static var choiceSummaries: [String] { [] }

    /// Part of `ArgumentValue`.
    package static var isFile: Bool { false }

    /// The error for text that is none of the choices.
    package static func noChoice(_ text: String) -> UsageError {
        UsageError(
            "must be one of \(choices.joined(separator: ", ")) (found \"\(text)\")"
                + NearestName.hint(for: text, among: choices)
        )
    }
}

/// The path of a file or directory that a command opens itself.
package struct FilePath: ArgumentValue {
    /// The path as it was written.
    package let path: String

    /// A path from text.
    package init(argument: String) {
        path = argument
    }

    /// Part of `ArgumentValue`.
    package static var valueName: String { "path" }
    /// Part of `ArgumentValue`.
    package static var isFile: Bool { true }
}

extension String: ArgumentValue {
    /// The text itself.
    package init(argument: String) {
        self = argument
    }

    /// Part of `ArgumentValue`.
    package static var valueName: String { "text" }
}

extension FixedWidthInteger where Self: ArgumentValue {
    /// A whole number in the type's range.
    package init(argument: String) throws(UsageError) {
        guard let number = Self(argument) else {
            let range = Self.bitWidth < 64 ? " from \(Self.min) to \(Self.max)" : ""
            throw UsageError("must be an integer\(range) (found \"\(argument)\")")
        }
        self = number
    }

    /// Part of `ArgumentValue`.
    package static var valueName: String { "number" }
}

extension Int: ArgumentValue {}
extension Int64: ArgumentValue {}
extension UInt16: ArgumentValue {}
extension UInt32: ArgumentValue {}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// One of the cases.
    package init(argument: String) throws(UsageError) {
        guard let value = Self(rawValue: argument) else { throw Self.noChoice(argument) }
        self = value
    }

    /// Part of `ArgumentValue`.
    package static var choices: [String] { allCases.map(\.rawValue) }
}
