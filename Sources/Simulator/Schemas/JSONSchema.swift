public import APNs

/// What JSON may look like: the part of JSON Schema 2020-12 that describes types of data.
///
/// Known are `type`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `enum`, `const`,
/// `anyOf`, `oneOf`, `allOf`, `not`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`,
/// `maxLength`, `minItems`, `maxItems`, and `$ref` to the whole schema or to one of its `$defs` or `definitions`.
/// Annotations such as `title`, `description` and `default` are passed over, and so are `format` and `pattern`: they
/// say what a text means, which no decoder asks. Every other keyword is refused: nothing goes unchecked unnoticed.
///
/// Source: https://json-schema.org/draft/2020-12/schema
public struct JSONSchema: Sendable, Hashable {
    /// One place where JSON is not as it should be.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The place, a JSON Pointer (RFC 6901); empty for the whole.
        public let pointer: String
        /// What is wrong with it, as the rest of a sentence that begins with the place.
        public let message: String

        /// The sentence, without the final stop.
        public var description: String { (pointer.isEmpty ? "it" : pointer) + " " + message }

        init(_ pointer: String, _ message: String) {
            self.pointer = pointer
            self.message = message
        }
    }

    /// Checks in one go; more are not made, and that is told as a violation.
    public static let checkLimit = 100_000
    /// Violations that are told.
    public static let violationLimit = 100

    /// The schema as it was given.
    public let json: JSONValue
    /// The checks of each schema in it, the whole first.
    private let schemas: [[SchemaCheck]]

    /// A schema from JSON.
    ///
    /// - Parameter json: The schema: an object, `true` or `false`.
    /// - Throws: ``JSONSchemaError`` for a keyword that is not known, or a value that it cannot have.
    public init(_ json: JSONValue) throws(JSONSchemaError) {
        self.json = json
        schemas = try SchemaCompiler.compile(json)
    }

    /// What is wrong with a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: The violations in the order of the schema, ``violationLimit`` at most; none when all is well.
    public func violations(of value: JSONValue) -> [Violation] {
        var validation = SchemaValidation(schemas)
        do throws(SchemaValidation.GivenUp) {
            return Array(try validation.violations(of: value, 0, at: "", depth: 0).prefix(JSONSchema.violationLimit))
        } catch {
            return [Violation("", error.message)]
        }
    }

    /// Whether a value is as the schema says.
    ///
    /// - Parameter value: The value.
    /// - Returns: Whether there are no violations.
    public func accepts(_ value: JSONValue) -> Bool {
        violations(of: value).isEmpty
    }
}

/// Why JSON is no schema that can be checked.
public struct JSONSchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The schema that has the keyword, as a JSON Pointer into the whole (RFC 6901).
    public let pointer: String
    /// The keyword; empty when the schema as a whole is wrong.
    public let keyword: String
    /// What is wrong, in a sentence without the final stop.
    public let description: String

    init(_ path: [String], _ keyword: String, _ message: String) {
        pointer = JSONPointer.path(path)
        self.keyword = keyword
        let place = JSONPointer.path(keyword.isEmpty ? path : path + [keyword])
        description = (place.isEmpty ? "the schema" : "#" + place) + " " + message
    }
}
