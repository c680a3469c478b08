// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A named parameter with a value, as in `--port 2197` or `--port=2197`.
///
/// The type determines the declaration: `Option<Int>` is required unless it has a default, `Option<Int?>` is optional,
/// `Option<[Int]>` may be repeated.
package struct Option<Value: Sendable>: Parameter {
    private let description: ParameterDescription
    private let read: @Sendable ([ArgumentReader.Value], ParameterDescription) throws(UsageError) -> Value

    /// Creates an option that is required unless it has a default.
    ///
    /// - Parameters:
    ///   - spelling: The name with its dashes, as in `--port`.
    ///   - help: The purpose.
    ///   - fallback: The value if the option is not given; nil, the default, to require the option.
    ///   - variable: The environment variable; nil, the default, to derive it from the spelling.
    package init(
        _ spelling: String,
        _ help: String,
        default fallback: Value? = nil,
        variable: String? = nil
    ) where Value: ArgumentValue {
        var description = ParameterDescription(.option, spelling, of: Value.self, help)
        description.isRequired = fallback == nil
        description.fallback = fallback.map { "\($0)" }
        description.ownVariable = variable
        self.description = description
        read = { (words, description) throws(UsageError) in
            guard let value: Value = try description.single(words) ?? fallback else { throw description.missing }
            return value
        }
    }

    /// Creates an optional option.
    ///
    /// - Parameters:
    ///   - spelling: The name with its dashes, as in `--port`.
    ///   - help: The purpose.
    ///   - variable: The environment variable; nil, the default, to derive it from the spelling.
    package init<Wrapped: ArgumentValue>(
        _ spelling: String,
        _ help: String,
        variable: String? = nil
    ) where Value == Wrapped? {
        var description = ParameterDescription(.option, spelling, of: Wrapped.self, help)
        description.ownVariable = variable
        self.description = description
        read = { (words, description) throws(UsageError) in try description.single(words) }
    }

    /// Creates an optional option whose properties are known at run time.
    ///
    /// - Parameters:
    ///   - spelling: The name with its dashes, as in `--port`.
    ///   - help: The purpose.
    ///   - valueName: The name of a value in the help; nil for the choices.
    ///   - choices: The valid values; empty if the option is not a choice.
    ///   - isFile: Whether a value is the path of a file.
    ///   - variable: The environment variable; nil to derive it from the spelling.
    ///   - check: Throws ``UsageError`` with the rule that a value breaks.
    package init(
        _ spelling: String,
        _ help: String,
        valueName: String?,
        choices: [String],
        isFile: Bool,
        variable: String?,
        check: @escaping @Sendable (String) throws(UsageError) -> Void
    ) where Value == String? {
        var description = ParameterDescription(.option, spelling, help)
        description.valueName = valueName ?? choices.joined(separator: "|")
        description.choices = choices
        description.isFile = isFile
        description.ownVariable = variable
        self.description = description
        read = { (words, description) throws(UsageError) in
            guard let text: String = try description.single(words) else { return nil }
            do throws(UsageError) {
                try check(text)
            } catch {
                throw UsageError("\(words.first?.variable ?? description.label): \(error)")
            }
            return text
        }
    }

    /// Creates an option that may be repeated.
    ///
    /// - Parameters:
    ///   - spelling: The name with its dashes, as in `--port`.
    ///   - help: The purpose.
    ///   - isRequired: Whether the option must be given at least once.
    package init<Element: ArgumentValue>(
        _ spelling: String,
        _ help: String,
        isRequired: Bool = false
    ) where Value == [Element] {
        var description = ParameterDescription(.option, spelling, of: Element.self, help)
        description.isRequired = isRequired
        description.isRepeatable = true
        description.choiceSummaries = Element.choiceSummaries
        self.description = description
        read = { (words, description) throws(UsageError) in
            if isRequired, words.isEmpty { throw description.missing }
            var values: [Element] = []
            for (index, word) in words.enumerated() {
                // If there are several values, the error gives the position of the invalid one, because a value may be
                // a secret.
                values.append(try description.value(word, number: words.count > 1 ? index + 1 : nil))
            }
            return values
        }
    }

    package var descriptions: [ParameterDescription] { [description] }

    package func take(from reader: inout ArgumentReader) throws(UsageError) -> Value {
        let words = reader.takeValues(of: description)
        if words.isEmpty, description.isRequired, let argument = reader.unexpectedArgument {
            let advice = "write \(description.spelling) before the argument \(ShownValue.quoted(argument))"
            throw UsageError("\(description.missing); \(advice)")
        }
        return try read(words, description)
    }
}

extension ParameterDescription {
    fileprivate func single<Value: ArgumentValue>(_ words: [ArgumentReader.Value]) throws(UsageError) -> Value? {
        guard words.count <= 1 else {
            throw UsageError("\(spelling) is given \(words.count) times: give it once")
        }
        guard let word = words.first else { return nil }
        return try value(word)
    }

    /// Converts a word to a value.
    ///
    /// An error names the parameter, or the variable that the word comes from, and `number`, the position of the word
    /// among several, if it is not nil.
    func value<Value: ArgumentValue>(_ word: ArgumentReader.Value, number: Int? = nil) throws(UsageError) -> Value {
        do throws(UsageError) {
            return try Value(argument: word.text, source: word.variable ?? (kind == .option ? spelling : nil))
        } catch {
            throw UsageError("\(word.variable ?? label)\(number.map { " (number \($0))" } ?? ""): \(error)")
        }
    }
}
