public import APNs

extension JSONSchema {
    /// Changes of an example that a type is tried with.
    private static let variantLimit = 2_000

    /// What JSON a Swift type decodes from, for simulators that run as a program of their own.
    ///
    /// The type decodes stand-ins, and what it asks for makes the schema. Members that it looks for before it decodes
    /// them, as optional properties do, may be missing or null; dates are numbers; enumerations with raw values have
    /// to be `CaseIterable`. Which texts are addresses or base64 it does not say.
    ///
    /// An `init(from:)` of its own is seen on one way only: the schema is tried with the type, and a type that
    /// decides by what it reads is refused where that shows.
    ///
    /// - Parameter type: The type.
    /// - Throws: ``SchemaExplorationError`` with the name of a type that could not be followed.
    public init<Value: Decodable>(decoding type: Value.Type) throws(SchemaExplorationError) {
        let sketch = SchemaSketch()
        let exploration = SchemaExploration()
        do {
            _ = try exploration.explore(type, into: sketch, at: [])
        } catch let error as SchemaExplorationError {
            throw error
        } catch {
            throw exploration.refusal("\(error)")
        }
        if let error = exploration.error { throw error }
        let name = String(describing: type)
        var members: [JSONValue.Member] = [
            .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", .string(name)),
        ]
        members += sketch.schema.members ?? []
        do throws(JSONSchemaError) {
            try self.init(.object(members))
        } catch {
            throw SchemaExplorationError(description: "\(name): \(error)")
        }
        let variants = sketch.variants()
        guard variants.count <= JSONSchema.variantLimit else {
            throw SchemaExplorationError(description: "\(name): it is too large: write its schema by hand")
        }
        for (value, isTaken) in variants {
            let isDecoded = PhoneDecoding.violation(of: value, decoding: type) == nil
            guard isDecoded == isTaken, accepts(value) == isTaken else {
                throw SchemaExplorationError(
                    description: "\(name): what it takes depends on what it reads: write its schema by hand"
                )
            }
        }
    }
}

extension ActivityContract {
    /// A contract of schemas that are told from the app's own types, to be handed to a simulator elsewhere as ``json``.
    ///
    /// Within one process ``init(for:topic:)`` is more exact: it decodes with the types themselves.
    ///
    /// - Parameters:
    ///   - type: The type of the attributes.
    ///   - topic: The app's bundle identifier; the suffix of Live Activities may be there.
    /// - Throws: ``SchemaExplorationError`` with the name of a type that could not be followed.
    public init<Attributes: LiveActivityAttributes & Decodable>(
        schemasOf type: Attributes.Type,
        topic: Topic
    ) throws(SchemaExplorationError) where Attributes.ContentState: Decodable {
        self.init(
            topic: topic,
            attributesType: type.attributesType,
            contentState: try JSONSchema(decoding: Attributes.ContentState.self),
            attributes: try JSONSchema(decoding: type)
        )
    }
}
