// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// Validation by schemas, compared with another validator.
@Suite(.timeLimit(.minutes(10))) struct JSONSchemaTests {
    private static let isValidatorInstalled = FileManager.default.fileExists(atPath: Python.interpreter)

    // MARK: Agreement with others

    @Test(.enabled(if: isValidatorInstalled, "run `make test`, which installs jsonschema"), arguments: schemaCases)
    func `the verdict agrees with another validator`(schemaCase: SchemaCase) async throws {
        var damaged = DamagedJSON(seed: 1)
        let documents = try schemaCase.documents.map { try json($0) }
        let broken = documents.flatMap { document in (0..<20).map { _ in damaged.damage(document) } }
        try await agree([(try json(schemaCase.schema), documents + broken)])
    }

    @Test(.enabled(if: isValidatorInstalled, "run `make test`, which installs jsonschema"))
    func `the verdict on snapshots agrees with another validator`() async throws {
        var damaged = DamagedJSON(seed: 2)
        let examples = SurfaceKind.allCases.map { SurfaceSnapshot.example(of: $0).json }
        let broken = examples.flatMap { example in
            (0..<120).map { count in
                (0...count % 3).reduce(example) { document, _ in damaged.damage(document) }
            }
        }
        let schema = SurfaceSchema.document()
        #expect(try examples.allSatisfy(JSONSchema(schema).accepts))
        try await agree([(schema, examples + broken)])
    }

    /// Expects the verdicts of the validator that others wrote, and of both kinds.
    private func agree(_ pairs: [(schema: JSONValue, documents: [JSONValue])]) async throws {
        let scratch = try ScratchDirectory()
        // The other validator does not check the keywords that are not checked here.
        let file = JSONValue.array(pairs.map { .array([$0.schema.without("pattern"), .array($0.documents)]) })
        let path = try scratch.write(file.encoded(), to: "pairs.json")
        let run = try await ProgramRun(Python.interpreter, ["Tests/Peers/check_schema_pairs.py", path])
        var verdicts = run.text.split(separator: "\n")[...]
        try #require(verdicts.count == pairs.map(\.documents.count).reduce(0, +), "\(run.errorOutput)")
        for (schema, documents) in pairs {
            let mine = try JSONSchema(schema)
            for document in documents {
                let verdict = verdicts.removeFirst()
                let violations = mine.violations(of: document)
                #expect(verdict == (violations.isEmpty ? "valid" : "invalid"), "\(text(document)) \(violations)")
            }
        }
    }

    // MARK: Violations

    @Test(
        arguments: [
            (#"{"type":"object","required":["a"]}"#, "{}", "/a is missing"),
            (
                #"{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}"#, #"{"a":{"b":null}}"#,
                "/a/b is null; it must be a string"
            ),
            (#"{"items":{"type":["number","null"]}}"#, #"[1,"x"]"#, "/1 is a string; it must be a number, or null"),
            (#"{"additionalProperties":false}"#, #"{"a/b":1}"#, "/a~1b is not allowed"),
            (#"{"type":"array"}"#, "{}", "it is an object; it must be an array"),
            (#"{"enum":["a","b"]}"#, #""c""#, #"it must be one of "a", "b""#),
            (#"{"const":1}"#, "2", "it must be 1"),
            (#"{"minimum":0.5}"#, "0", "it is 0; the minimum is 0.5"),
            (#"{"maxLength":2}"#, #""abc""#, "it has 3 characters; the maximum is 2"),
            (#"{"minItems":1}"#, "[]", "it has 0 elements; the minimum is 1"),
            (#"{"minItems":2}"#, "[7]", "it has 1 element; the minimum is 2"),
            (#"{"minLength":2}"#, #""a""#, "it has 1 character; the minimum is 2"),
            (#"{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}"#, "{}", "/a is missing"),
            (
                #"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#, "1",
                "it matches the alternatives 1 and 2 of oneOf, and must match exactly one"
            ),
            (#"{"not":{"type":"null"}}"#, "null", "it matches a schema that is excluded by not"),
        ] as [(String, String, String)]
    )
    func `a violation has a place and a sentence`(schema: String, document: String, sentence: String) throws {
        let violations = try JSONSchema(json(schema)).violations(of: json(document))
        #expect(violations.map(\.description) == [sentence])
    }

    // MARK: Invalid schemas

    @Test(
        arguments: [
            (#"{"properties":{"a":{"patternProperties":{}}}}"#, "/properties/a", "patternProperties"),
            (#"{"minLenght":1}"#, "", "minLenght"), (#"{"uniqueItems":true}"#, "", "uniqueItems"),
            (#"{"if":{}}"#, "", "if"), (#"{"type":"text"}"#, "", "type"), (#"{"type":[]}"#, "", "type"),
            (#"{"required":"a"}"#, "", "required"), (#"{"enum":1}"#, "", "enum"),
            (#"{"properties":[]}"#, "", "properties"),
            (#"{"anyOf":[]}"#, "", "anyOf"), (#"{"anyOf":[{},3]}"#, "/anyOf/1", ""), (#"[]"#, "", ""),
            (#"{"minLength":-1}"#, "", "minLength"), (#"{"minimum":"1"}"#, "", "minimum"),
            (#"{"exclusiveMinimum":true}"#, "", "exclusiveMinimum"), (#"{"multipleOf":2}"#, "", "multipleOf"),
            (#"{"items":[{}]}"#, "/items", ""), (##"{"$ref":"#/$defs/b"}"##, "", "$ref"),
            (#"{"$ref":"https://example.com/schema"}"#, "", "$ref"), (##"{"$ref":"#/properties/a"}"##, "", "$ref"),
            (#"{"$defs":{"a":{"dependentRequired":{}}}}"#, "/$defs/a", "dependentRequired"),
            (#"{"items":{"$defs":{}}}"#, "/items", "$defs"), (#"{"items":{"$id":"a"}}"#, "/items", "$id"),
        ] as [(String, String, String)]
    )
    func `unsupported keywords are refused with their place`(schema: String, pointer: String, keyword: String) throws {
        let error = try #require(throws: JSONSchemaError.self) { try JSONSchema(json(schema)) }
        #expect(error.pointer == pointer && error.keyword == keyword, "\(error)")
        #expect(!error.description.isEmpty)
    }

    // MARK: Bounds

    @Test(arguments: [
        ##"{"$ref":"#"}"##, ##"{"not":{"$ref":"#"}}"##,
        ##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        ##"{"anyOf":[{"$ref":"#"},true],"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
        ##"{"type":"array","anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}"##,
    ])
    func `the validation of a recursive schema is limited`(schema: String) throws {
        let document = String(repeating: "[", count: 40) + "1" + String(repeating: "]", count: 40)
        let violations = try JSONSchema(json(schema)).violations(of: json(document))
        #expect(violations.count == 1 && violations[0].message.hasPrefix("cannot be checked"), "\(violations)")
    }

    @Test func `violations are bounded`() throws {
        let schema = try JSONSchema(["items": ["type": "string"]])
        let violations = schema.violations(of: .array(Array(repeating: 1, count: 5_000)))
        #expect(violations.count == JSONSchema.violationLimit)
        #expect(!schema.accepts(.array(Array(repeating: "x", count: 200_000))))
    }

    @Test func `numbers are compared by value`() throws {
        let whole = try JSONSchema(["type": "integer", "maximum": 9_007_199_254_740_992])
        #expect(!whole.accepts(try json("9007199254740993")))
        #expect(whole.accepts(try json("-1e300")))
        #expect(try JSONSchema(json(#"{"const":0.10}"#)).accepts(try json("1e-1")))
        #expect(try JSONSchema(json(#"{"const":"é"}"#)).accepts("e\u{301}") == false)
    }

    private func json(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }
    private func text(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }
}

extension JSONValue {
    /// The value without the members of this name that are texts, at any depth.
    fileprivate func without(_ name: String) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.without(name) })
        case .object(let members):
            .object(
                members.filter { $0.name != name || $0.value.stringValue == nil }
                    .map { Member($0.name, $0.value.without(name)) }
            )
        default: self
        }
    }
}
