// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The words of a command line that no parameter has taken yet.
package struct ArgumentReader {
    /// The text of a value.
    struct Value {
        let text: String
        /// The environment variable that the text comes from; nil if it is from the command line.
        var variable: String?
    }

    private var options: [(spelling: String, value: String)] = []
    private var arguments: [String] = []
    /// The labels of the values that are standard input.
    private var standardInputs: [String] = []
    private let takesArguments: Bool
    private let environment: [String: String]

    /// Sorts the words into options and arguments by the declared parameters.
    init(
        _ words: some Sequence<String>,
        for parameters: [ParameterDescription],
        environment: [String: String]
    ) throws(UsageError) {
        self.environment = environment
        takesArguments = parameters.contains { $0.kind == .argument }
        var words = words.makeIterator()
        while let word = words.next() {
            if word == "--" {
                while let rest = words.next() { arguments.append(rest) }
            } else if word.hasPrefix("-"), word != "-" {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let spelling = parts[0]
                let parameter = try ArgumentReader.parameter(spelling, among: parameters)
                if parameter.kind == .flag {
                    guard parts.count == 1 else { throw UsageError("\(spelling) takes no value") }
                    options.append((spelling, ""))
                } else {
                    // The name of another option in place of a value is always a mistake, unless it is given as in
                    // `--title=--body`.
                    guard let value = parts.count > 1 ? parts[1] : words.next(),
                        parts.count > 1 || !ArgumentReader.isOption(value, among: parameters)
                    else { throw UsageError("\(parameter.label) requires a value") }
                    options.append((spelling, value))
                }
            } else {
                arguments.append(word)
            }
        }
    }

    private static func parameter(
        _ spelling: String,
        among parameters: [ParameterDescription]
    ) throws(UsageError) -> ParameterDescription {
        let known = parameters.filter { $0.kind != .argument }
        guard let parameter = known.first(where: { $0.spelling == spelling }) else {
            throw UsageError("unknown option \(ShownValue(spelling))" + hint(for: spelling, among: known))
        }
        return parameter
    }

    /// The options that address a server: `--host` is the server of APNs, `--url` an HTTP interface.
    private static let addressOptions = ["--host", "--url"]

    /// Returns a hint about the option that was probably meant; empty if there is none.
    private static func hint(for spelling: String, among known: [ParameterDescription]) -> String {
        let address = known.first { addressOptions.contains($0.spelling) }
        if let address, addressOptions.contains(spelling) {
            return "; this command has \(address.label): \(address.help)"
        }
        return NearestName.hint(for: spelling, among: known.map(\.spelling))
    }

    /// Whether a word is the spelling of a declared option or flag, with or without a value.
    private static func isOption(_ word: String, among parameters: [ParameterDescription]) -> Bool {
        let spelling = word.prefix { $0 != "=" }
        return parameters.contains { $0.kind != .argument && $0.spelling == spelling }
    }

    /// Whether the words contain a flag, even if other words are invalid.
    ///
    /// A word in the position of an option's value is not a flag.
    static func contain(
        _ flag: String,
        in words: some Sequence<String>,
        for parameters: [ParameterDescription]
    ) -> Bool {
        var words = words.makeIterator()
        while let word = words.next(), word != "--" {
            if word == flag { return true }
            if parameters.contains(where: { $0.kind == .option && $0.spelling == word }) { _ = words.next() }
        }
        return false
    }

    /// Removes the values of an option and returns them in order; without any, returns the value of its variable.
    mutating func takeValues(of parameter: ParameterDescription) -> [Value] {
        var values = options.filter { $0.spelling == parameter.spelling }.map { Value(text: $0.value) }
        options.removeAll { $0.spelling == parameter.spelling }
        if values.isEmpty, let text = environment[parameter.variable] {
            values = [Value(text: text, variable: parameter.variable)]
        }
        for value in values { noteStandardInput(value, of: parameter) }
        return values
    }

    private mutating func noteStandardInput(_ value: Value, of parameter: ParameterDescription) {
        guard parameter.readsStandardInput, value.text == "-" else { return }
        standardInputs.append(value.variable ?? (parameter.kind == .option ? parameter.spelling : parameter.label))
    }

    /// Removes a flag, and returns whether it or its variable was set.
    mutating func takeFlag(_ parameter: ParameterDescription) throws(UsageError) -> Bool {
        let count = options.count { $0.spelling == parameter.spelling }
        options.removeAll { $0.spelling == parameter.spelling }
        if count > 0 { return true }
        switch environment[parameter.variable] {
        case nil, "", "0", "false": return false
        case "1", "true": return true
        case let value?: throw UsageError("\(parameter.variable) must be 1 or 0 (found \(ShownValue.quoted(value)))")
        }
    }

    /// Removes and returns the next argument.
    mutating func takeArgument(for parameter: ParameterDescription) -> Value? {
        guard !arguments.isEmpty else { return nil }
        let value = Value(text: arguments.removeFirst())
        noteStandardInput(value, of: parameter)
        return value
    }

    /// The first argument of a command that takes none; nil if there is none.
    var unexpectedArgument: String? { takesArguments ? nil : arguments.first }

    /// Throws ``UsageError`` for an argument that no parameter has taken, and for several values that are standard
    /// input.
    func checkEnd() throws(UsageError) {
        if let argument = arguments.first { throw UsageError("unexpected argument \(ShownValue.quoted(argument))") }
        guard standardInputs.count > 1 else { return }
        throw UsageError(
            "\(standardInputs[0]) - excludes \(standardInputs[1]) -: standard input is one file; give a path for one"
                + " of them"
        )
    }
}
