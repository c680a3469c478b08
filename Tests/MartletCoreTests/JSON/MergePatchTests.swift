// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

/// JSON Merge Patches (RFC 7396).
@Suite struct MergePatchTests {
    /// The test cases of RFC 7396, appendix A, and those about names.
    @Test(
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
            // The order stays, and names are compared by their bytes.
            (#"{"a":1,"b":{"c":2,"d":3}}"#, #"{"f":7,"b":{"c":5},"a":6}"#, #"{"a":6,"b":{"c":5,"d":3},"f":7}"#),
            (#"{"é":1}"#, #"{"e\#u{301}":null}"#, #"{"é":1}"#), ("{}", "{}", "{}"),
        ] as [(String, String, String)]
    )
    func `a merge patch changes a value`(value: String, patch: String, expected: String) throws {
        let read = { (text: String) in try JSONReader.read(Array(text.utf8)) }
        #expect(try read(value).merging(read(patch)).description == expected)
    }
}
