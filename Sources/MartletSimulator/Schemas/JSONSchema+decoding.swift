// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension JSONSchema {
    /// The maximum number of variants of the example that are tried with the type.
    private static let variantLimit = 2_000

    /// Creates the schema of the JSON that a Swift type decodes from, for a simulator that runs in another process.
    ///
    /// The type decodes placeholder values, and the schema is derived from the values that it asks for. Members that it
    /// checks for before it decodes them, as it does for optional properties, may be missing or null. Dates are
    /// numbers. Enumerations with raw values must be `CaseIterable`. Whether a string is a URL, a UUID or base64 is an
    /// annotation that is not checked.
    ///
    /// A custom `init(from:)` is observed on one path only. The schema is therefore compared with the type on variants
    /// of an example, and a type is rejected when a variant shows that its decoding depends on the values.
    ///
    /// - Parameter type: The type.
    /// - Throws: ``SchemaExplorationError`` with the name of a type whose decoding could not be followed.
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
            throw SchemaExplorationError(description: "\(name): the type is too large: write its schema manually")
        }
        for (value, isAccepted) in variants {
            let isDecoded = PhoneDecoding.violation(of: value, decoding: type) == nil
            guard isDecoded == isAccepted, accepts(value) == isAccepted else {
                throw SchemaExplorationError(
                    description: "\(name): its decoding depends on the decoded values: write its schema manually"
                )
            }
        }
    }
}

extension ActivityContract {
    /// Creates a contract from schemas that are derived from the app's own types, to pass to another simulator as
    /// ``json``.
    ///
    /// Within one process, ``init(for:topic:)`` is more exact: it decodes with the types themselves.
    ///
    /// - Parameters:
    ///   - type: The type of the attributes.
    ///   - topic: The app's bundle identifier, with or without the suffix of Live Activities.
    /// - Throws: ``SchemaExplorationError`` with the name of a type whose decoding could not be followed.
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
