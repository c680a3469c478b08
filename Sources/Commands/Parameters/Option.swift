/// A parameter that is named and has a value, as in `--port 2197` or `--port=2197`.
///
/// What is declared follows from the type: `Option<Int>` has to be given unless it has a default, `Option<Int?>` may
/// be left out, `Option<[Int]>` may be given several times.
package struct Option<Value: Sendable>: Parameter {
    private let description: ParameterDescription
    private let read: @Sendable ([String], ParameterDescription) throws(UsageError) -> Value

    /// An option that has to be given unless it has a default.
    package init(_ spelling: String, _ help: String, default fallback: Value? = nil) where Value: ArgumentValue {
        description = ParameterDescription(
            kind: .option,
            spelling: spelling,
            valueName: Value.valueName,
            help: help,
            isRequired: fallback == nil,
            fallback: fallback.map { "\($0)" }
        )
        read = { (words, description) throws(UsageError) in
            guard let value: Value = try description.single(words) ?? fallback else { throw description.missing }
            return value
        }
    }

    /// An option that may be left out.
    package init<Wrapped: ArgumentValue>(_ spelling: String, _ help: String) where Value == Wrapped? {
        description = ParameterDescription(
            kind: .option,
            spelling: spelling,
            valueName: Wrapped.valueName,
            help: help
        )
        read = { (words, description) throws(UsageError) in try description.single(words) }
    }

    /// An option that may be given several times.
    ///
    /// - Parameters:
    ///   - spelling: `--` and the name.
    ///   - help: What it is for.
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
            isRepeatable: true
        )
        read = { (words, description) throws(UsageError) in
            if isRequired, words.isEmpty { throw description.missing }
            var values: [Element] = []
            for word in words { values.append(try description.value(word)) }
            return values
        }
    }

    /// Part of `Parameter`.
    package var descriptions: [ParameterDescription] { [description] }

    /// Part of `Parameter`.
    package func take(from words: inout Words) throws(UsageError) -> Value {
        try read(words.takeValues(of: description.spelling), description)
    }
}

extension ParameterDescription {
    fileprivate func single<Value: ArgumentValue>(_ words: [String]) throws(UsageError) -> Value? {
        guard words.count <= 1 else {
            throw UsageError("\(spelling) is given \(words.count) times, but only once is meaningful")
        }
        guard let word = words.first else { return nil }
        return try value(word)
    }

    /// What a word stands for, with the parameter's name in the error.
    func value<Value: ArgumentValue>(_ word: String) throws(UsageError) -> Value {
        do throws(UsageError) {
            return try Value(argument: word)
        } catch {
            throw UsageError("\(label): \(error)")
        }
    }
}
