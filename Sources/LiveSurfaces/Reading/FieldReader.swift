// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A reader for the fields of a JSON object that collects all errors; without an object, it records the rules instead.
///
/// Each surface declares its fields once, in its `init(reading:)`. Parsing JSON and generating the JSON Schema both run
/// that initializer, so they cannot disagree.
struct FieldReader {
    /// A field as a JSON Schema describes it.
    struct Field {
        let name: String
        let isRequired: Bool
        let schema: JSONValue
    }

    /// The maximum number of unknown members that a message names.
    private static let maximumNames = 10

    /// The categories that a notification may use.
    let categories: NotificationCategories
    private(set) var issues: [SurfaceIssue] = []
    /// The recorded fields, if there is no object to read.
    private(set) var fields: [Field] = []
    private let members: [JSONValue.Member]
    private let path: [String]
    let isRecording: Bool
    private var asked: [String] = []
    private var found = 0

    init(_ members: [JSONValue.Member], at path: [String] = [], categories: NotificationCategories) {
        self.members = members
        self.path = path
        self.categories = categories
        isRecording = false
        asked.reserveCapacity(12)
    }

    /// Creates a reader without an object, which records the rules of the fields.
    init(recordingFor categories: NotificationCategories) {
        self.categories = categories
        members = []
        path = []
        isRecording = true
    }

    // MARK: Fields

    /// Reads a required field.
    mutating func required<Value>(_ name: String, _ rule: Rule<Value>) -> Value {
        if isRecording { record(name, isRequired: true, rule.schema()) }
        guard let value = member(name) else {
            if !isRecording { report(rule.missingCode, name, "is missing") }
            return rule.standIn
        }
        return read(value, name, rule) ?? rule.standIn
    }

    /// Reads an optional field, which may be absent but not null.
    mutating func optional<Value>(_ name: String, _ rule: Rule<Value>) -> Value? {
        if isRecording { record(name, isRequired: false, rule.schema()) }
        return member(name).flatMap { read($0, name, rule) }
    }

    /// Reads an optional field that has a default.
    mutating func optional<Value: RawRepresentable<String>>(
        _ name: String,
        _ rule: Rule<Value>,
        default standard: Value
    ) -> Value {
        if isRecording {
            let members = (rule.schema().members ?? []) + [.init("default", .string(standard.rawValue))]
            record(name, isRequired: false, .object(members))
        }
        return member(name).map { read($0, name, rule) ?? rule.standIn } ?? standard
    }

    /// Reads a field that holds an object, with `body`.
    mutating func object<Value>(_ name: String, _ body: (inout FieldReader) -> Value) -> Value {
        if isRecording { return recordObject(name, isRequired: true, body) }
        guard let value = member(name) else {
            report(.invalidType, name, "is missing")
            var reader = FieldReader([], categories: categories)
            return body(&reader)
        }
        return object(of: value, name, body)
    }

    /// Reads an optional field that holds an object, with `body`.
    mutating func optionalObject<Value>(_ name: String, _ body: (inout FieldReader) -> Value) -> Value? {
        if isRecording { return recordObject(name, isRequired: false, body) }
        return member(name).map { object(of: $0, name, body) }
    }

    /// Reads the value of a field that must be an object, with `body`.
    mutating func object<Value>(of value: JSONValue, _ name: String, _ body: (inout FieldReader) -> Value) -> Value {
        var reader = FieldReader(value.members ?? [], at: path + [name], categories: categories)
        let result = body(&reader)
        guard value.members != nil else {
            // Without an object, errors about its fields would be misleading.
            report(.invalidType, name, value.mismatch("an object"))
            return result
        }
        reader.finish()
        issues += reader.issues
        return result
    }

    private mutating func recordObject<Value>(
        _ name: String,
        isRequired: Bool,
        _ body: (inout FieldReader) -> Value
    ) -> Value {
        var reader = FieldReader(recordingFor: categories)
        let result = body(&reader)
        record(name, isRequired: isRequired, reader.objectSchema)
        return result
    }

    /// Reads an optional field that holds a list of objects, each with `body`; empty if it is absent.
    mutating func optionalList<Element>(
        _ name: String,
        count range: ClosedRange<Int>,
        _ body: (inout FieldReader) -> Element
    ) -> [Element] {
        guard isRecording else { return has(name) ? list(name, count: range, body) : [] }
        var reader = FieldReader(recordingFor: categories)
        _ = body(&reader)
        let schema: JSONValue = [
            "type": "array", "minItems": .integer(range.lowerBound), "maxItems": .integer(range.upperBound),
            "items": reader.objectSchema,
        ]
        record(name, isRequired: false, schema)
        return []
    }

    /// Reads a field that holds a list of objects, each with `body`.
    mutating func list<Element>(
        _ name: String,
        count range: ClosedRange<Int>,
        _ body: (inout FieldReader) -> Element
    ) -> [Element] {
        guard let value = member(name) else {
            report(.invalidType, name, "is missing")
            return []
        }
        guard case .array(let elements) = value else {
            report(.invalidType, name, value.mismatch("an array"))
            return []
        }
        let count = elements.count
        if count < range.lowerBound {
            report(.tooSmall, name, "has \(count.counted("element")); the minimum is \(range.lowerBound)")
        }
        if count > range.upperBound {
            report(.tooBig, name, "has \(count.counted("element")); the maximum is \(range.upperBound)")
        }
        return elements.enumerated().map { index, element in
            let place = path + [name, String(index)]
            guard let members = element.members else {
                issues.append(SurfaceIssue(code: .invalidType, path: place, message: element.mismatch("an object")))
                var empty = FieldReader([], categories: categories)
                return body(&empty)
            }
            var reader = FieldReader(members, at: place, categories: categories)
            let result = body(&reader)
            reader.finish()
            issues += reader.issues
            return result
        }
    }

    func has(_ name: String) -> Bool {
        members.contains { $0.name == name }
    }

    /// Reports the members that no field has read.
    mutating func finish() {
        guard !isRecording, found < members.count else { return }
        let unknown = members.map(\.name).filter { !asked.contains($0) }
        let names = unknown.prefix(Self.maximumNames).map { name in
            let nearest = NearestName.of(name, among: asked).map { " (did you mean \($0)?)" } ?? ""
            return ShownValue(name).description + nearest
        }
        let others = unknown.count > names.count ? " and \(unknown.count - names.count) more" : ""
        issues.append(
            SurfaceIssue(
                code: .unrecognizedKeys,
                path: path,
                message: "has unknown members: " + names.joined(separator: ", ") + others,
                unknownMember: unknown.first.flatMap { ShownValue($0).isWhole ? $0 : nil }
            )
        )
    }

    /// Adds an error that is not found by the rule of a single field.
    mutating func report(_ code: SurfaceIssue.Code, _ name: String?, _ message: String) {
        issues.append(SurfaceIssue(code: code, path: name.map { path + [$0] } ?? path, message: message))
    }

    // MARK: Schema

    var objectSchema: JSONValue {
        .object(of: [
            "type": "object", "properties": JSONValue.object(fields.map { JSONValue.Member($0.name, $0.schema) }),
            "required": JSONValue.array(fields.filter(\.isRequired).map { .string($0.name) }),
            "additionalProperties": false,
        ])
    }

    mutating func record(_ name: String, isRequired: Bool, _ schema: JSONValue) {
        fields.append(Field(name: name, isRequired: isRequired, schema: schema))
    }

    mutating func member(_ name: String) -> JSONValue? {
        asked.append(name)
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        found += 1
        return members[index].value
    }

    mutating func read<Value>(_ value: JSONValue, _ name: String, _ rule: Rule<Value>) -> Value? {
        switch rule.read(value) {
        case .value(let value): return value
        case .problem(let code, let message):
            report(code, name, message)
            return nil
        }
    }
}
