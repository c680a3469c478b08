// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The rule for the value of a field: the function that reads it, and its JSON Schema.
struct Rule<Value: Sendable>: Sendable {
    /// The result of reading a field.
    enum Reading {
        case value(Value)
        case problem(SurfaceIssue.Code, String)
    }

    /// The value used in place of an invalid one while the remaining fields are read.
    let standIn: Value
    /// The error code for a missing value: an invalid value if only certain values are allowed, otherwise an invalid
    /// type.
    let missingCode: SurfaceIssue.Code
    let schema: @Sendable () -> JSONValue
    let read: @Sendable (JSONValue) -> Reading

    init(
        standIn: Value,
        missingCode: SurfaceIssue.Code = .invalidType,
        schema: @autoclosure @escaping @Sendable () -> JSONValue,
        read: @escaping @Sendable (JSONValue) -> Reading
    ) {
        self.standIn = standIn
        self.missingCode = missingCode
        self.schema = schema
        self.read = read
    }
}

extension Rule where Value == String {
    static let text = text(minimum: 0)
    /// Text that is not empty.
    static let nonEmptyText = text(minimum: 1)

    /// Returns the rule for text whose length is in a range, in UTF-16 code units.
    static func text(minimum: Int, maximum: Int = .max) -> Rule {
        Rule(
            standIn: "",
            schema: .object(of: [
                "type": "string", "minLength": minimum > 0 ? minimum : nil, "maxLength": maximum < .max ? maximum : nil,
            ])
        ) { value in
            guard case .string(let text) = value else { return .problem(.invalidType, value.mismatch("a string")) }
            if minimum > 0, text.isEmpty { return .problem(.tooSmall, "must not be empty") }
            if maximum < .max, text.utf16.count > maximum {
                return .problem(.tooBig, "has \(text.utf16.count) UTF-16 code units; the maximum is \(maximum)")
            }
            return .value(text)
        }
    }

    static func literal(_ literal: String) -> Rule {
        Rule(standIn: literal, missingCode: .invalidValue, schema: ["const": .string(literal)]) { value in
            value.stringValue == literal
                ? .value(literal) : .problem(.invalidValue, value.mismatch("\"\(literal)\""))
        }
    }

    /// A link that begins with a scheme in lower case and `://`.
    static let deepLink = formatted(
        pattern: #"^[a-z][a-z0-9+\-.]*:\/\/"#,
        "text that begins with a scheme in lower case and ://, as in myapp://orders/17"
    ) { text in
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard let first = scheme.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return scheme.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789+-.".utf8.contains)
            && text.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
    }

    /// Returns the rule for text of a form, as in "must be …", that a regular expression describes in the schema and
    /// `isRight` checks.
    static func formatted(
        pattern: String,
        _ form: String,
        _ isRight: @escaping @Sendable (String) -> Bool
    ) -> Rule {
        Rule(standIn: "", schema: ["type": "string", "pattern": .string(pattern)]) { value in
            guard case .string(let text) = value else { return .problem(.invalidType, value.mismatch("a string")) }
            return isRight(text) ? .value(text) : .problem(.invalidFormat, value.mismatch(form))
        }
    }
}

extension Rule where Value == SurfaceDate {
    /// A time with a UTC offset; seconds are optional.
    static let date = Rule(standIn: "", schema: Rule<String>.datePattern.schema()) { value in
        switch Rule<String>.datePattern.read(value) {
        case .value(let text): .value(SurfaceDate(rawValue: text))
        case .problem(let code, let message): .problem(code, message)
        }
    }
}

extension Rule where Value == String {
    private static let leapDay =
        #"(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29"#
    private static let otherDay =
        #"\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"#
        + #"|02-(?:0[1-9]|1\d|2[0-8]))"#

    fileprivate static let datePattern = formatted(
        pattern: "^(?:" + leapDay + "|" + otherDay + ")"
            + #"T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$"#,
        "a time with its offset, as in 2026-05-12T18:31:00Z"
    ) { SurfaceDateParser($0) != nil }
}

extension Rule where Value == Double {
    /// A number from 0 to 1.
    static let fraction = Rule(standIn: 0, schema: ["type": "number", "minimum": 0, "maximum": 1]) { value in
        guard case .number(let number) = value, number.doubleValue.isFinite else {
            return .problem(.invalidType, value.mismatch("a number"))
        }
        if number.doubleValue < 0 { return .problem(.tooSmall, "is \(number.text); the minimum is 0") }
        if number.doubleValue > 1 { return .problem(.tooBig, "is \(number.text); the maximum is 1") }
        return .value(number.doubleValue)
    }
}

extension Rule where Value == Int {
    /// The largest integer that every JSON parser reads exactly (RFC 8259 §6).
    private static let greatest = 9_007_199_254_740_991

    /// A non-negative integer.
    static let count = Rule(
        standIn: 0,
        schema: ["type": "integer", "minimum": 0, "maximum": .integer(greatest)]
    ) { value in
        guard case .number(let number) = value, number.doubleValue == number.doubleValue.rounded(),
            number.doubleValue.isFinite
        else { return .problem(.invalidType, value.mismatch("an integer")) }
        if number.doubleValue < 0 { return .problem(.tooSmall, "is \(number.text); the minimum is 0") }
        guard let count = Int(exactly: number.doubleValue), count <= greatest else {
            return .problem(.tooBig, "is \(number.text); the maximum is \(greatest)")
        }
        return .value(count)
    }
}

extension Rule where Value == Bool {
    /// `true` or `false`.
    static let flag = Rule(standIn: false, schema: ["type": "boolean"]) { value in
        if case .bool(let flag) = value {
            .value(flag)
        } else {
            .problem(.invalidType, value.mismatch("true or false"))
        }
    }
}

extension Rule where Value: RawRepresentable<String> & CaseIterable {
    /// Returns the rule for a case of an enumeration; `standIn` replaces an invalid value.
    static func choice(standIn: Value) -> Rule {
        choice(of: Value.allCases.map(\.rawValue), standIn: standIn, Value.init(rawValue:))
    }
}

extension Rule where Value == String {
    static func choice(of texts: [String]) -> Rule {
        choice(of: texts, standIn: "") { texts.contains($0) ? $0 : nil }
    }
}

extension Rule {
    /// Returns the rule for one of these texts; `parse` returns the value of a text, and nil for any other text.
    private static func choice(
        of texts: @autoclosure @escaping @Sendable () -> [String],
        standIn: Value,
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> Rule {
        Rule(standIn: standIn, missingCode: .invalidValue, schema: ["enum": .strings(texts())]) { value in
            if let choice = value.stringValue.flatMap(parse) { return .value(choice) }
            return .problem(.invalidValue, value.mismatch(among: texts()))
        }
    }
}

extension JSONValue {
    /// Returns the message about a value that is none of some texts, with the one that was probably meant.
    func mismatch(among texts: [String]) -> String {
        let hint = stringValue.map { NearestName.hint(for: $0, among: texts) } ?? ""
        return mismatch("one of " + texts.joined(separator: ", ")) + hint
    }
}
