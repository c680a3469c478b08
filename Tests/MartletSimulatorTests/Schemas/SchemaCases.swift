// SPDX-License-Identifier: Apache-2.0

import Testing

/// A schema with documents to validate.
struct SchemaCase: Sendable, CustomTestStringConvertible {
    let schema: String
    let documents: [String]

    var testDescription: String { schema }

    init(_ schema: String, _ documents: String...) {
        self.schema = schema
        self.documents = documents
    }
}

/// Each keyword alone and some together.
let schemaCases: [SchemaCase] = [
    SchemaCase("true", "1", "null", "{}"),
    SchemaCase("false", "1", "null", "{}"),
    SchemaCase(#"{"type":"integer"}"#, "1", "1.0", "1.5", "1e2", "-0", #""1""#, "true", "null"),
    SchemaCase(#"{"type":"number"}"#, "1", "1.5", #""1""#, "true"),
    SchemaCase(#"{"type":["string","null"]}"#, #""a""#, "null", "1", "[]"),
    SchemaCase(#"{"type":"boolean"}"#, "true", "false", "0", "1"),
    SchemaCase(
        #"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
        #"{"a":"x"}"#,
        #"{"b":1}"#
    ),
    SchemaCase(
        #"{"properties":{"a":{},"b":{"type":"number"}},"additionalProperties":false}"#,
        #"{"a":1,"b":2}"#,
        #"{"c":1}"#,
        "[]"
    ),
    SchemaCase(
        #"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#,
        #"{"a":1,"b":"x"}"#,
        #"{"b":1}"#
    ),
    SchemaCase(#"{"items":{"type":"integer"},"minItems":1,"maxItems":3}"#, "[1,2]", "[]", "[1,2,3,4]", #"["x"]"#),
    SchemaCase(
        #"{"prefixItems":[{"type":"string"},{"type":"number"}],"items":{"type":"boolean"}}"#,
        #"["a",1,true]"#,
        #"["a"]"#,
        #"["a",1,2]"#,
        #"[1,"a"]"#
    ),
    SchemaCase(#"{"prefixItems":[true],"items":false}"#, "[1]", "[1,2]"),
    SchemaCase(
        #"{"enum":["a",1,null,[1],{"a":1,"b":2}]}"#,
        #""a""#,
        "1.0",
        "true",
        "null",
        "[1.0]",
        #"{"b":2,"a":1}"#,
        "0"
    ),
    SchemaCase(#"{"const":0}"#, "0", "0.0", "-0", "false", "null"),
    SchemaCase(#"{"const":false}"#, "false", "0"),
    SchemaCase(#"{"const":{"a":[1,2]}}"#, #"{"a":[1,2]}"#, #"{"a":[2,1]}"#),
    SchemaCase(#"{"anyOf":[{"type":"string"},{"minimum":3}]}"#, #""a""#, "3", "2", "null"),
    SchemaCase(#"{"oneOf":[{"type":"number"},{"type":"integer"},{"type":"string"}]}"#, "1", "1.5", #""a""#, "null"),
    SchemaCase(#"{"allOf":[{"minimum":1},{"maximum":3}]}"#, "1", "3", "4", "0", #""a""#),
    SchemaCase(#"{"not":{"type":"string"}}"#, "1", #""a""#),
    SchemaCase(#"{"exclusiveMinimum":1,"exclusiveMaximum":2.5}"#, "1", "1.01", "2.5", "2", "-2"),
    SchemaCase(#"{"minimum":-1.5,"maximum":1e2}"#, "-1.5", "-1.6", "100", "100.5"),
    SchemaCase(#"{"minLength":2,"maxLength":3}"#, #""ab""#, #""é🐦""#, #""👨‍👩‍👧""#, #""a""#, #""abcd""#, "1"),
    SchemaCase(##"{"$defs":{"a/b~c":{"type":"string"}},"$ref":"#/$defs/a~1b~0c"}"##, #""x""#, "1"),
    SchemaCase(##"{"definitions":{"a":{"type":"string"}},"items":{"$ref":"#/definitions/a"}}"##, #"["x"]"#, "[1]"),
    SchemaCase(
        ##"{"type":"object","properties":{"next":{"$ref":"#"},"n":{"type":"integer"}},"required":["n"]}"##,
        #"{"n":1,"next":{"n":2,"next":{"n":3}}}"#,
        #"{"n":1,"next":{"next":{"n":3}}}"#
    ),
    SchemaCase(##"{"$ref":"#/$defs/a","maximum":5,"$defs":{"a":{"minimum":1}}}"##, "3", "0", "6"),
    SchemaCase(
        ##"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/a","title":"t","##
            + #""description":"d","$comment":"c","default":1,"examples":[1],"format":"date-time","type":"string"}"#,
        #""no date""#,
        "1"
    ),
]
