/// A parameter that is named and has a value, as in `--port 2197` or `--port=2197`.
///
/// What is declared follows from the type: `Option<Int>` has to be given unless it has a default, `Option<Int?>` may
/// be left out, `Option<[Int]>` may be given several times.
package struct Option<Value: Sendable>: Parameter {
    private let description: ParameterDescription
    private let read: @Sendable ([Words.Value], ParameterDescription) throws(UsageError) -> Value

    /// An option that has to be given unless it has a default.
    ///
    /// - Parameters:
    ///   - spelling: `--` and the name.
    ///   - help: The purpose.
    ///   - fallback: The value when the option is not given; nil, the default, to require it.
    ///   - variable: The environment variable; nil, the default, for the one that follows from the spelling.
    package init(
        _ spelling: String,
        _ help: String,
        default fallback: Value? = nil,
        variable: String? = nil
    ) where Value: ArgumentValue {
        description = ParameterDescription(
            kind: .option,
            spelling: spelling,
            valueName: Value.valueName,
            help: help,
            isRequired: fallback == nil,
            fallback: fallback.map { "\($0)" },
            choices: Value.choices,
            isFile: Value.isFile,
            ownVariable: variable
        )
        read = { (words, description) throws(UsageError) in
            guard let value: Value = try description.single(words) ?? fallback else { throw description.missing }
            return value
        }
    }

    /// An option that may be left out.
    ///
    /// - Parameters:
    ///   - spelling: `--` and the name.
    ///   - help: The purpose.
    ///   - variable: The environment variable; nil, the default, for the one that follows from the spelling.
    package init<Wrapped: ArgumentValue>(
        _ spelling: String,
        _ help: String,
        variable: String? = nil
    ) where Value == Wrapped? {
        description = ParameterDescription(
            kind: .option,
            spelling: spelling,
            valueName: Wrapped.valueName,
            help: help,
            choices: Wrapped.choices,
            isFile: Wrapped.isFile,
            ownVariable: variable
        )
        read = { (words, description) throws(UsageError) in try description.single(words) }
    }

    /// An option that may be given several times.
    ///
    /// - Parameters:
    ///   - spelling: `--` and the name.
    ///   - help: The purpose.
    ///   - isRequired: Whether it has to be given at least once.
    package init<Element: ArgumentValue>(
        _ spelling: String,
        _ help: String,
        isRequired: Bool = false
    ) where Value == [Element] {
        description = ParameterDescription(
            kind: .option,
            spelling: spelling,
            valueName: Element.valueName,
            help: help,
            isRequired: isRequired,
            isRepeatable: true,
            choices: Element.choices,
            choiceSummaries: Element.choiceSummaries,
            isFile: Element.isFile
        )
        read = { (words, description) throws(UsageError) in
            if isRequired, words.isEmpty { throw description.missing }
            var values: [Element] = []
            for (index, word) in words.enumerated() {
                // Among several values the position tells which one is wrong; the value itself may be a secret.
                values.append(try description.value(word, number: words.count > 1 ? index + 1 : nil))
            }
            return values
        }
    }

    /// Part of `Parameter`.
    package var descriptions: [ParameterDescription] { [description] }

    /// Part of `Parameter`.
    package func take(from words: inout Words) throws(UsageError) -> Value {
        try read(words.takeValues(of: description), description)
    }
}

extension ParameterDescription {
    fileprivate func single<Value: ArgumentValue>(_ words: [Words.Value]) throws(UsageError) -> Value? {
        guard words.count <= 1 else {
            throw UsageError("\(spelling) is given \(words.count) times: give it once")
        }
        guard let word = words.first else { return nil }
        return try value(word)
    }

    /// The value that a word stands for; an error names the parameter, or the variable that the word comes from, and
    /// the position of the word among several when it is not nil.
    func value<Value: ArgumentValue>(_ word: Words.Value, number: Int? = nil) throws(UsageError) -> Value {
        do throws(UsageError) {
            return try Value(argument: word.text, source: word.variable ?? (kind == .option ? spelling : nil))
        } catch {
            throw UsageError("\(word.variable ?? label)\(number.map { " (number \($0))" } ?? ""): \(error)")
        }
    }
}
