// SPDX-License-Identifier: Apache-2.0

/// An error of a ``JSONField``.
package protocol JSONFieldError: Error {
    /// Creates the error.
    ///
    /// - Parameters:
    ///   - message: The message, which begins with the path, without a final stop.
    ///   - path: The path of the value that the error is about.
    init(_ message: String, at path: JSONPath)
}

/// A value of a JSON document with its path, or the place of a missing member.
///
/// Each method that returns a value throws if the value is missing or of another type; ``ifPresent`` makes a member
/// optional:
///
/// ```
/// let host = try server["host"].nonemptyText()
/// let port = try server["port"].ifPresent?.integer(in: 1...65_535) ?? 443
/// ```
package struct JSONField<Failure: JSONFieldError>: Sendable {
    /// The value; nil if the member is missing.
    package let value: JSONValue?
    package let path: JSONPath

    /// Creates the field of a whole document.
    ///
    /// - Parameters:
    ///   - value: The document.
    ///   - root: The name of the document in messages, such as "the body"; empty to leave it out.
    package init(_ value: JSONValue, named root: String) {
        self.init(value, at: JSONPath(root: root))
    }

    private init(_ value: JSONValue?, at path: JSONPath) {
        self.value = value
        self.path = path
    }

    /// The member with this name, whether or not it exists.
    package subscript(name: String) -> JSONField { JSONField(value?[name], at: path.appending(name)) }

    /// The element at an index, whether or not it exists.
    package subscript(index: Int) -> JSONField {
        let elements = value?.elements ?? []
        return JSONField(elements.indices.contains(index) ? elements[index] : nil, at: path.appending(index))
    }

    /// The members with their names; nil if the value is not an object.
    ///
    /// The subscript searches for its name, so a loop over the names of an object takes time that is quadratic in
    /// their number. This takes linear time.
    package var members: [(name: String, field: JSONField)]? {
        value?.members?.map { (name: $0.name, field: JSONField($0.value, at: path.appending($0.name))) }
    }

    package var isPresent: Bool { value != nil }

    /// The field; nil if the value is missing.
    package var ifPresent: JSONField? { isPresent ? self : nil }

    // MARK: Errors

    /// Returns an error about the value.
    ///
    /// - Parameter rule: The rule that the value breaks, as in "must be a string".
    /// - Returns: The error.
    package func error(_ rule: String) -> Failure {
        let subject = path.description
        return Failure(subject.isEmpty ? rule : subject + " " + rule, at: path)
    }

    /// Returns the error about a value that is missing, or other than expected.
    package func mismatch(_ expected: String) -> Failure {
        guard let value else { return error("is missing: it must be \(expected)") }
        return error(value.mismatch(expected))
    }

    // MARK: Values

    /// Checks that the value is an object that has no other members than these.
    package func checkMembers(_ names: [String]) throws(Failure) {
        guard let members = value?.members else { throw mismatch("an object") }
        guard let unknown = members.first(where: { member in !names.contains { member.isNamed($0) } })
        else { return }
        let shown = ShownValue(unknown.name)
        guard shown.isWhole else { throw error("must not have the member \(shown)") }
        let hint = NearestName.hint(for: unknown.name, among: names)
        throw self[unknown.name].error(
            "is unknown\(hint.isEmpty ? ": the known members are " + names.joined(separator: ", ") : hint)"
        )
    }

    package func elements() throws(Failure) -> [JSONField] {
        guard let elements = value?.elements else { throw mismatch("an array") }
        return elements.enumerated().map { JSONField($1, at: path.appending($0)) }
    }

    package func text() throws(Failure) -> String {
        guard let text = value?.stringValue else { throw mismatch("a string") }
        return text
    }

    /// Returns a string that is not empty.
    package func nonemptyText() throws(Failure) -> String {
        guard let text = value?.stringValue, !text.isEmpty else { throw mismatch("a string that is not empty") }
        return text
    }

    /// Returns strings that are not empty.
    package func texts() throws(Failure) -> [String] {
        try elements().map { (element) throws(Failure) in try element.nonemptyText() }
    }

    /// Returns an integer within bounds.
    package func integer<Integer: FixedWidthInteger & Sendable>(
        in range: ClosedRange<Integer>
    ) throws(Failure) -> Integer {
        guard let number = value?.integerValue.flatMap(Integer.init(exactly:)), range.contains(number) else {
            switch (range.lowerBound, range.upperBound) {
            case (0, .max): throw mismatch("a nonnegative integer")
            case (1, .max): throw mismatch("a positive integer")
            default: throw mismatch("an integer from \(range.lowerBound) to \(range.upperBound)")
            }
        }
        return number
    }

    /// Returns a number within bounds.
    package func number(in range: ClosedRange<Double>) throws(Failure) -> Double {
        guard case .number(let number)? = value, range.contains(number.doubleValue) else {
            let bounds = [range.lowerBound, range.upperBound].map { JSONNumber($0)?.text ?? "\($0)" }
            throw mismatch("a number from \(bounds.joined(separator: " to "))")
        }
        return number.doubleValue
    }

    package func bool() throws(Failure) -> Bool {
        guard case .bool(let flag)? = value else { throw mismatch("true or false") }
        return flag
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type = Choice.self
    ) throws(Failure) -> Choice {
        guard let choice = value?.stringValue.flatMap(Choice.init(rawValue:)) else {
            throw mismatch("one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// Returns a value that is parsed from a string; an error of the parser becomes the error about the value.
    package func parsed<Value, ParsingError: Error>(
        _ parse: (String) throws(ParsingError) -> Value
    ) throws(Failure) -> Value {
        let text = try nonemptyText()
        do throws(ParsingError) {
            return try parse(text)
        } catch {
            throw Failure("\(path): \(error)", at: path)
        }
    }
}

extension JSONValue {
    /// Returns the message about a value that is other than expected.
    package func mismatch(_ expected: String) -> String { "must be \(expected) (found \(excerpt))" }

    /// The maximum length of a string that is quoted in a message; a longer one may be a secret.
    private static var longestExcerpt: Int { 20 }

    /// The value as in "found …": a short value that cannot be a secret in full, others described.
    package var excerpt: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number):
            number.text.utf8.count <= JSONValue.longestExcerpt ? number.text : "a number of many digits"
        case .string(""): "an empty string"
        case .string(let text) where text.utf8.count <= JSONValue.longestExcerpt && ShownValue(text).isWhole:
            String(decoding: encoded(), as: UTF8.self)
        // Limits may be in bytes.
        case .string(let text) where text.utf8.count != text.count:
            "a string of \(text.count.counted("character")), \(text.utf8.count.counted("byte"))"
        case .string(let text): "a string of \(text.count.counted("character"))"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
