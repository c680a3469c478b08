// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A schema that JSON is checked against: the part of JSON Schema 2020-12 that describes types of data.
///
/// The supported keywords are `type`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `enum`,
/// `const`, `anyOf`, `oneOf`, `allOf`, `not`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`,
/// `minLength`, `maxLength`, `minItems`, `maxItems`, and `$ref` to the whole schema or to one of its `$defs` or
/// `definitions`. Annotations such as `title`, `description` and `default` are ignored, and so are `format` and
/// `pattern`, because they describe the meaning of a string, which no decoder checks. Every other keyword is an error,
/// so that no part of a schema is silently ignored.
///
/// Source: https://json-schema.org/draft/2020-12/schema
public struct JSONSchema: Sendable, Hashable {
    /// A place where JSON does not match the schema.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The place, as a JSON Pointer (RFC 6901); empty for the whole value.
        public let pointer: String
        /// The violation, as the rest of a sentence that begins with the place.
        public let message: String

        /// The place and the message, without the final stop.
        public var description: String { (pointer.isEmpty ? "it" : pointer) + " " + message }

        init(_ pointer: String, _ message: String) {
            self.pointer = pointer
            self.message = message
        }
    }

    /// The maximum number of checks of one value; a value that needs more is reported as a violation.
    public static let checkLimit = 100_000
    /// The maximum number of violations that are reported.
    public static let violationLimit = 100

    /// The schema as it was passed to the initializer.
    public let json: JSONValue
    /// The checks of each subschema, those of the whole schema first.
    private let schemas: [[SchemaCheck]]

    /// Creates a schema from JSON.
    ///
    /// - Parameter json: The schema: an object, `true` or `false`.
    /// - Throws: ``JSONSchemaError`` for an unsupported keyword, or an invalid value of a keyword.
    public init(_ json: JSONValue) throws(JSONSchemaError) {
        self.json = json
        schemas = try SchemaCompiler.compile(json)
    }

    /// Returns the violations of a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: The violations in the order of the schema, at most ``violationLimit``; empty when the value is valid.
    public func violations(of value: JSONValue) -> [Violation] {
        var validation = SchemaValidation(schemas)
        do throws(SchemaValidation.LimitError) {
            return Array(try validation.violations(of: value, 0, at: "", depth: 0).prefix(JSONSchema.violationLimit))
        } catch {
            return [Violation("", error.message)]
        }
    }

    /// Returns whether a value matches the schema.
    ///
    /// - Parameter value: The value.
    /// - Returns: Whether there are no violations.
    public func accepts(_ value: JSONValue) -> Bool {
        violations(of: value).isEmpty
    }
}

/// The reason that JSON is not a supported schema.
public struct JSONSchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The subschema that has the keyword, as a JSON Pointer into the whole schema (RFC 6901).
    public let pointer: String
    /// The keyword; empty when the schema as a whole is wrong.
    public let keyword: String
    /// The error, in a sentence without the final stop.
    public let description: String

    init(_ path: [String], _ keyword: String, _ message: String) {
        pointer = JSONPointer.path(path)
        self.keyword = keyword
        let place = JSONPointer.path(keyword.isEmpty ? path : path + [keyword])
        description = (place.isEmpty ? "the schema" : "#" + place) + " " + message
    }
}
