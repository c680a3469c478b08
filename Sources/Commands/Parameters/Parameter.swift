/// What a command declares: how it is spelled, how it reads in help, and how it is taken from the words.
package protocol Parameter: Sendable {
    /// What the command's closure receives.
    associatedtype Value: Sendable

    /// How it is spelled and explained; several for a ``Group``.
    var descriptions: [ParameterDescription] { get }

    /// Takes the value out of the words.
    func take(from words: inout Words) throws(UsageError) -> Value
}

/// How a parameter is spelled and explained.
package struct ParameterDescription: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case option
        case flag
        case argument
    }

    var kind: Kind
    /// `--name`, or an argument's name.
    var spelling: String
    /// How a value is called in help; empty for flags.
    var valueName = ""
    var help: String
    var isRequired = false
    var isRepeatable = false
    /// The value when none is given, in words; nil for none.
    var fallback: String?

    /// How it looks in help and messages.
    var label: String {
        switch kind {
        case .option: "\(spelling) <\(valueName)>"
        case .flag: spelling
        case .argument: "<\(spelling)>"
        }
    }

    /// The environment variable that stands in for an option or a flag.
    static func variable(for spelling: String) -> String {
        "MARTLET_" + spelling.drop { $0 == "-" }.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    var missing: UsageError {
        let variable = kind == .option ? " (or the variable \(ParameterDescription.variable(for: spelling)))" : ""
        return UsageError("\(label) is missing\(variable): \(help)")
    }
}

/// Something that the words of a command line can say.
package protocol ArgumentValue: Sendable {
    /// The value that the text stands for.
    ///
    /// - Throws: ``UsageError`` that says what the text should be.
    init(argument: String) throws(UsageError)

    /// What a value is called in help.
    static var valueName: String { get }
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
            throw UsageError("\"\(argument)\" is no whole number from \(Self.min) to \(Self.max)")
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
        guard let value = Self(rawValue: argument) else {
            let known = Self.allCases.map(\.rawValue)
            throw UsageError(
                "\"\(argument)\" is none of \(known.joined(separator: ", "))"
                    + NearestName.hint(for: argument, among: known)
            )
        }
        self = value
    }

    /// Part of `ArgumentValue`.
    package static var valueName: String { allCases.map(\.rawValue).joined(separator: "|") }
}
