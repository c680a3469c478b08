// SPDX-License-Identifier: Apache-2.0

/// A parameter that is identified by its position, as in `token JWT`.
package struct Argument<Value: Sendable>: Parameter {
    private let description: ParameterDescription
    private let read: @Sendable (inout ArgumentReader, ParameterDescription) throws(UsageError) -> Value

    /// Creates a required argument.
    package init(_ name: String, _ help: String) where Value: ArgumentValue {
        var description = ParameterDescription(.argument, name, of: Value.self, help)
        description.isRequired = true
        description.choiceSummaries = Value.choiceSummaries
        self.description = description
        read = { (reader, description) throws(UsageError) in
            guard let word = reader.takeArgument(for: description) else { throw description.missing }
            return try description.value(word)
        }
    }

    /// Creates an optional argument.
    package init<Wrapped: ArgumentValue>(_ name: String, _ help: String) where Value == Wrapped? {
        var description = ParameterDescription(.argument, name, of: Wrapped.self, help)
        description.choiceSummaries = Wrapped.choiceSummaries
        self.description = description
        read = { (reader, description) throws(UsageError) in
            guard let word = reader.takeArgument(for: description) else { return nil }
            return try description.value(word)
        }
    }

    /// Creates an argument that is given at least once and takes all remaining words.
    package init<Element: ArgumentValue>(_ name: String, _ help: String) where Value == [Element] {
        var description = ParameterDescription(.argument, name + "…", of: Element.self, help)
        description.isRequired = true
        self.description = description
        read = { (reader, description) throws(UsageError) in
            var values: [Element] = []
            while let word = reader.takeArgument(for: description) { values.append(try description.value(word)) }
            guard !values.isEmpty else { throw description.missing }
            return values
        }
    }

    package var descriptions: [ParameterDescription] { [description] }

    package func take(from reader: inout ArgumentReader) throws(UsageError) -> Value {
        try read(&reader, description)
    }
}
