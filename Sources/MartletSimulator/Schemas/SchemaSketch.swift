// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The observed decoding of a type, a class because several decoders describe the same value.
final class SchemaSketch {
    /// The kind of JSON value that the type has decoded.
    enum Shape {
        /// Nothing was decoded, so any value is valid.
        case anything
        /// A value whose schema has no subschemas.
        case scalar([JSONValue.Member], example: JSONValue)
        case object
        /// An object with any member names.
        case map(SchemaSketch)
        case list
    }

    /// A member of an object.
    struct Field {
        let name: String
        let sketch: SchemaSketch
        /// Whether the type checks that the member exists before it decodes it.
        var isOptional = false
    }

    var shape = Shape.anything
    /// Whether the type checks for null.
    var isNullable = false
    private(set) var fields: [Field] = []
    var elements: [SchemaSketch] = []
    /// Whether the type decodes until the list ends, rather than a fixed number of elements.
    var asksForEnd = false

    /// Returns the sketch of the member with this name, which is created if needed.
    func field(_ name: String) -> SchemaSketch {
        if let field = fields.first(where: { $0.name == name }) { return field.sketch }
        let field = Field(name: name, sketch: SchemaSketch())
        fields.append(field)
        return field.sketch
    }

    /// Records that the type has checked for a member.
    func looked(for name: String) {
        _ = field(name)
        for index in fields.indices where fields[index].name == name { fields[index].isOptional = true }
    }

    // MARK: As JSON

    /// The schema of the observed decoding.
    var schema: JSONValue {
        switch shape {
        case .anything: true
        case .scalar(let members, _): described(members)
        case .map(let values):
            described([.init("type", "object"), .init("additionalProperties", values.schema)])
        case .object:
            described(
                [
                    .init("type", "object"),
                    .init("properties", .object(fields.map { .init($0.name, $0.sketch.schema) })),
                    .init("required", .array(fields.filter { !$0.isOptional }.map { .string($0.name) })),
                ]
            )
        case .list where asksForEnd:
            described([.init("type", "array"), .init("items", elements.first?.schema ?? true)])
        case .list:
            described(
                [.init("type", "array"), .init("minItems", .number(JSONNumber(elements.count)))]
                    + (elements.isEmpty ? [] : [.init("prefixItems", .array(elements.map(\.schema)))])
            )
        }
    }

    /// Returns the schema of these members, with null added if the type accepts it.
    private func described(_ members: [JSONValue.Member]) -> JSONValue {
        guard isNullable else { return .object(members) }
        return .object(
            members.map { member in
                switch (member.name, member.value) {
                case ("type", let type): .init("type", [type, "null"])
                case ("enum", .array(let values)): .init("enum", .array(values + [.null]))
                default: member
                }
            }
        )
    }

    /// A value with every member that the type decodes.
    var example: JSONValue {
        switch shape {
        case .anything: [:]
        case .scalar(_, let example): example
        case .object: .object(fields.map { .init($0.name, $0.sketch.example) })
        case .map(let values): ["key": values.example]
        case .list: .array(elements.map(\.example))
        }
    }

    /// Returns values that differ from the example in one place, and whether the type accepts each if nothing was
    /// missed.
    func variants() -> [(value: JSONValue, isAccepted: Bool)] {
        var variants: [(JSONValue, Bool)] = [(example, true)]
        if case .anything = shape { return variants }
        variants.append((.null, isNullable))
        switch shape {
        case .anything, .scalar: break
        case .map(let values):
            for (value, isAccepted) in values.variants() { variants.append((["key": value], isAccepted)) }
        case .object:
            for (index, field) in fields.enumerated() {
                var members = fields.map { JSONValue.Member($0.name, $0.sketch.example) }
                for (value, isAccepted) in field.sketch.variants() {
                    members[index].value = value
                    variants.append((.object(members), isAccepted))
                }
                members.remove(at: index)
                variants.append((.object(members), field.isOptional))
            }
        case .list:
            let all = elements.map(\.example)
            for (index, element) in elements.enumerated() {
                for (value, isAccepted) in element.variants() {
                    var changed = all
                    changed[index] = value
                    variants.append((.array(changed), isAccepted))
                }
            }
        }
        return variants
    }
}
