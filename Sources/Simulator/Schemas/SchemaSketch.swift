internal import APNs

/// What has been seen of a type while it decoded stand-ins; a reference, as decoders hand out views of one place.
final class SchemaSketch {
    /// What the type has taken.
    enum Shape {
        /// Nothing: then anything will do.
        case anything
        /// A value that a schema describes without others.
        case scalar([JSONValue.Member], example: JSONValue)
        case object
        /// An object with any names.
        case map(SchemaSketch)
        case list
    }

    /// A member of an object.
    struct Field {
        let name: String
        let sketch: SchemaSketch
        /// Whether the type looks whether it is there.
        var isOptional = false
    }

    var shape = Shape.anything
    /// Whether the type looks for null.
    var isNullable = false
    private(set) var fields: [Field] = []
    var elements: [SchemaSketch] = []
    /// Whether the type goes on until a list ends, rather than taking so many elements.
    var asksForEnd = false

    /// The member of this name.
    func field(_ name: String) -> SchemaSketch {
        if let field = fields.first(where: { $0.name == name }) { return field.sketch }
        let field = Field(name: name, sketch: SchemaSketch())
        fields.append(field)
        return field.sketch
    }

    /// The type has looked whether a member is there.
    func looked(for name: String) {
        _ = field(name)
        for index in fields.indices where fields[index].name == name { fields[index].isOptional = true }
    }

    // MARK: As JSON

    /// The schema of what was seen.
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

    /// The schema of these members, or null where the type takes it.
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

    /// A value with everything that the type asks for.
    var example: JSONValue {
        switch shape {
        case .anything: [:]
        case .scalar(_, let example): example
        case .object: .object(fields.map { .init($0.name, $0.sketch.example) })
        case .map(let values): ["key": values.example]
        case .list: .array(elements.map(\.example))
        }
    }

    /// Values one change away from the example, and whether the type takes them if what was seen is all there is.
    func variants() -> [(value: JSONValue, isTaken: Bool)] {
        var variants: [(JSONValue, Bool)] = [(example, true)]
        if case .anything = shape { return variants }
        variants.append((.null, isNullable))
        switch shape {
        case .anything, .scalar: break
        case .map(let values):
            for (value, isTaken) in values.variants() { variants.append((["key": value], isTaken)) }
        case .object:
            for (index, field) in fields.enumerated() {
                var members = fields.map { JSONValue.Member($0.name, $0.sketch.example) }
                for (value, isTaken) in field.sketch.variants() {
                    members[index].value = value
                    variants.append((.object(members), isTaken))
                }
                members.remove(at: index)
                variants.append((.object(members), field.isOptional))
            }
        case .list:
            let all = elements.map(\.example)
            for (index, element) in elements.enumerated() {
                for (value, isTaken) in element.variants() {
                    var changed = all
                    changed[index] = value
                    variants.append((.array(changed), isTaken))
                }
            }
        }
        return variants
    }
}
