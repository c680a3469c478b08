// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The validation of a value by a schema, with limits on its depth and its number of checks.
struct SchemaValidation {
    /// The reason for which a value cannot be checked.
    enum LimitError: Error {
        case tooDeep, tooMuch

        /// The reason, as the rest of a sentence about the value.
        var message: String {
            switch self {
            case .tooDeep:
                "cannot be checked: the schema refers to itself, or is nested more than \(depthLimit) levels deep"
            case .tooMuch: "cannot be checked: more than \(JSONSchema.checkLimit) checks are necessary"
            }
        }
    }

    /// The maximum depth of nested schemas and values.
    private static let depthLimit = 256
    /// The maximum number of allowed values that a message lists.
    private static let namedValues = 12

    private typealias Violation = JSONSchema.Violation

    private let schemas: [[SchemaCheck]]
    private var checksLeft = JSONSchema.checkLimit

    init(_ schemas: [[SchemaCheck]]) {
        self.schemas = schemas
    }

    /// Returns the violations of a value by the schema with this index.
    mutating func violations(
        of value: JSONValue,
        _ schema: Int,
        at pointer: String,
        depth: Int
    ) throws(LimitError) -> [JSONSchema.Violation] {
        guard depth < SchemaValidation.depthLimit else { throw .tooDeep }
        var violations: [Violation] = []
        for check in schemas[schema] {
            try spend(1)
            violations += try self.violations(of: value, check, at: pointer, depth: depth + 1)
        }
        return violations
    }

    private mutating func spend(_ checks: Int) throws(LimitError) {
        checksLeft -= checks
        if checksLeft < 0 { throw .tooMuch }
    }

    private mutating func violations(
        of value: JSONValue,
        _ check: SchemaCheck,
        at pointer: String,
        depth: Int
    ) throws(LimitError) -> [Violation] {
        switch check {
        case .never:
            return [Violation(pointer, "is not allowed")]
        case .types(let types):
            if types.contains(where: { $0.matches(value) }) { return [] }
            let expected = types.map(\.description).joined(separator: ", or ")
            return [Violation(pointer, "is \(value.typeName); it must be \(expected)")]
        case .values(let values):
            try spend(values.count)
            return values.contains { $0.isSame(as: value) } ? [] : [Violation(pointer, notOne(of: values))]
        case .any(let schemas):
            return try alternatives(schemas, value, at: pointer, depth, allowsSeveral: true)
        case .one(let schemas):
            return try alternatives(schemas, value, at: pointer, depth, allowsSeveral: false)
        case .all(let schemas):
            var found: [Violation] = []
            for schema in schemas { found += try violations(of: value, schema, at: pointer, depth: depth) }
            return found
        case .not(let schema):
            let fits = try violations(of: value, schema, at: pointer, depth: depth).isEmpty
            return fits ? [Violation(pointer, "matches a schema that is excluded by not")] : []
        case .required, .properties, .otherProperties:
            guard let members = value.members else { return [] }
            return try violations(of: members, check, at: pointer, depth: depth)
        case .firstElements, .elements, .count:
            guard case .array(let elements) = value else { return [] }
            return try violations(of: elements, check, at: pointer, depth: depth)
        case .number(let comparison, let limit):
            guard case .number(let number) = value else { return [] }
            return comparison.problem(with: number, limit).map { [Violation(pointer, $0)] } ?? []
        case .length:
            guard case .string(let text) = value else { return [] }
            return check.problem(with: text).map { [Violation(pointer, $0)] } ?? []
        }
    }

    private mutating func violations(
        of members: [JSONValue.Member],
        _ check: SchemaCheck,
        at pointer: String,
        depth: Int
    ) throws(LimitError) -> [Violation] {
        var found: [Violation] = []
        if case .required(let names) = check {
            for name in names {
                try spend(1 + members.count / 64)
                guard !members.contains(where: { $0.isNamed(name) }) else { continue }
                found.append(Violation(pointer + JSONPointer.path([name]), "is missing"))
            }
            return found
        }
        for member in members {
            try spend(1)
            let schema: Int?
            switch check {
            case .properties(let properties): schema = properties[Array(member.name.utf8)]
            case .otherProperties(let known, let other): schema = known.contains(Array(member.name.utf8)) ? nil : other
            default: schema = nil
            }
            guard let schema else { continue }
            let place = pointer + JSONPointer.path([member.name])
            found += try violations(of: member.value, schema, at: place, depth: depth)
        }
        return found
    }

    private mutating func violations(
        of elements: [JSONValue],
        _ check: SchemaCheck,
        at pointer: String,
        depth: Int
    ) throws(LimitError) -> [Violation] {
        var found: [Violation] = []
        switch check {
        case .count(.minimum, let limit) where elements.count < limit:
            return [Violation(pointer, "has \(elements.count.counted("element")); the minimum is \(limit)")]
        case .count(.maximum, let limit) where elements.count > limit:
            return [Violation(pointer, "has \(elements.count.counted("element")); the maximum is \(limit)")]
        case .firstElements(let schemas):
            for (index, (element, schema)) in zip(elements, schemas).enumerated() {
                found += try violations(of: element, schema, at: "\(pointer)/\(index)", depth: depth)
            }
        case .elements(let start, let schema):
            for (index, element) in elements.enumerated().dropFirst(start) {
                try spend(1)
                found += try violations(of: element, schema, at: "\(pointer)/\(index)", depth: depth)
            }
        default: break
        }
        return found
    }

    /// Returns the violations of a value that must match one of several schemas: those of the closest schema.
    private mutating func alternatives(
        _ schemas: [Int],
        _ value: JSONValue,
        at pointer: String,
        _ depth: Int,
        allowsSeveral: Bool
    ) throws(LimitError) -> [Violation] {
        var matching: [Int] = []
        var closest: [Violation] = []
        for (index, schema) in schemas.enumerated() {
            let found = try violations(of: value, schema, at: pointer, depth: depth)
            if found.isEmpty {
                if allowsSeveral { return [] }
                matching.append(index)
            } else if closest.isEmpty || isCloser(found, than: closest, at: pointer) {
                closest = found
            }
        }
        switch matching.count {
        case 0: return closest
        case 1: return []
        default:
            let numbers = matching.map { String($0 + 1) }.joined(separator: " and ")
            return [Violation(pointer, "matches the alternatives \(numbers) of oneOf, and must match exactly one")]
        }
    }

    /// Returns whether an alternative is closer: it accepts the type of the value itself, or has fewer violations.
    private func isCloser(_ found: [Violation], than other: [Violation], at pointer: String) -> Bool {
        let isOfThisKind = !found.contains { $0.pointer == pointer }
        let isOtherOfThisKind = !other.contains { $0.pointer == pointer }
        return isOfThisKind == isOtherOfThisKind ? found.count < other.count : isOfThisKind
    }

    private func notOne(of values: [JSONValue]) -> String {
        let texts = values.prefix(SchemaValidation.namedValues).map { String(decoding: $0.encoded(), as: UTF8.self) }
        guard values.count > 1 else { return "must be \(texts.joined())" }
        let more = values.count > texts.count ? " …" : ""
        return "must be one of " + texts.joined(separator: ", ") + more
    }
}

extension SchemaCheck.Comparison {
    /// Returns the violation of a number; nil for none.
    fileprivate func problem(with number: JSONNumber, _ limit: JSONNumber) -> String? {
        let (isRight, demand) =
            switch self {
            case .atLeast: (!number.isLess(than: limit), "the minimum is \(limit.text)")
            case .atMost: (!limit.isLess(than: number), "the maximum is \(limit.text)")
            case .above: (limit.isLess(than: number), "it must be more than \(limit.text)")
            case .below: (number.isLess(than: limit), "it must be less than \(limit.text)")
            }
        return isRight ? nil : "is \(number.text); \(demand)"
    }
}

extension SchemaCheck {
    /// Returns the violation of a string; nil for none.
    fileprivate func problem(with text: String) -> String? {
        let count = text.unicodeScalars.count
        return switch self {
        case .length(.minimum, let limit) where count < limit:
            "has \(count.counted("character")); the minimum is \(limit)"
        case .length(.maximum, let limit) where count > limit:
            "has \(count.counted("character")); the maximum is \(limit)"
        default: nil
        }
    }
}
