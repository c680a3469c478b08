// SPDX-License-Identifier: Apache-2.0

/// A kind of request body of any size that a server may find hard to read: deep, long, repeated or malformed.
package enum RequestShape: String, CaseIterable, Sendable {
    case deepArrays
    case nestedObjects
    case manyMembers
    case repeatedMembers
    case manyCombiningNames
    case longCombiningName
    case longJoinedName
    case longHangulName
    case combiningText
    case combiningHeader
    case combiningPayload
    case emptyObjects
    case emptyLines
    case manyLines
    case nulls
    case digits
    case exponent
    case extremeNumbers
    case escapes
    case surrogates
    case halfSurrogates
    case whiteSpace
    case quotes
    case invalidUTF8
    case zeroBytes
    case manyTokens
    case manyReferences
    case nestedPattern
    case stringsFile

    /// Returns a body of at least this number of bytes, and not much more.
    package func body(_ byteCount: Int) -> [UInt8] {
        switch self {
        case .deepArrays: filled(byteCount, #"{"a":"#, "[", "")
        case .nestedObjects: filled(byteCount, #"{"a":["#, #"{"b":{"c":[1]}},"#, "0]}")
        case .manyMembers: members(byteCount) { #""\#($0)":null"# }
        case .repeatedMembers: filled(byteCount, "{", #""to":1,"#, #""to":1}"#)
        case .manyCombiningNames: members(byteCount) { "\"\u{301}\u{316}\($0)\u{301}\":null" }
        case .longCombiningName: filled(byteCount, #"{"e"#, "\u{301}", #"":1}"#)
        case .longJoinedName: filled(byteCount, #"{""#, "\u{1F468}\u{200D}", #"":1}"#)
        case .longHangulName: filled(byteCount, #"{""#, "\u{1100}\u{1161}", #"":1}"#)
        case .combiningText: filled(byteCount, #"{"to":"e"#, "\u{301}", #"","app":1}"#)
        case .combiningHeader: filled(byteCount, #"{"headers":{"apns-topic":"e"#, "\u{301}", #""},"payload":{}}"#)
        case .combiningPayload:
            filled(byteCount, #"{"to":"5d3a","payload":{"aps":{"alert":""#, "\u{301}", #""}}}"#)
        case .emptyObjects: filled(byteCount, "[", "{},", "0]")
        case .emptyLines: filled(byteCount, "", "\n", "")
        case .manyLines: filled(byteCount, "", "{\"a\":1}\n", "")
        case .nulls: filled(byteCount, #"{"ids":["#, "null,", "null]}")
        case .digits: filled(byteCount, #"{"limit":1"#, "0", "}")
        case .exponent: filled(byteCount, #"{"limit":1e"#, "9", "}")
        case .extremeNumbers: filled(byteCount, #"{"a":["#, "1e308,-0,9223372036854775808,-1e-400,", "0]}")
        case .escapes: filled(byteCount, #"{"a":""#, #"\u0301"#, #""}"#)
        case .surrogates: filled(byteCount, #"{"a":""#, #"\ud83d\ude00"#, #""}"#)
        case .halfSurrogates: filled(byteCount, #"{"payload":{"a":""#, #"\ud83d"#, #""}}"#)
        case .whiteSpace: filled(byteCount, "{", " ", "}")
        case .quotes: filled(byteCount, #"""#, #"\""#, #"""#)
        case .invalidUTF8: Array(#"{"a":""#.utf8) + [UInt8](repeating: 0xFE, count: byteCount)
        case .zeroBytes: [UInt8](repeating: 0, count: byteCount)
        case .manyTokens: filled(byteCount, #"{"to":["#, #""5d3a","#, #""5d3a"],"payload":{}}"#)
        case .manyReferences: filled(byteCount, ##"{"allOf":["##, ##"{"$ref":"#"},"##, "{}]}")
        case .nestedPattern: filled(byteCount, #"{"type":"string","pattern":""#, "(a*)*", #""}"#)
        case .stringsFile: filled(byteCount, "", "\"a\" = \"b\u{301}\";\n", "")
        }
    }

    /// Values of header fields, which the shapes of bodies do not cover.
    package static let fields = [
        "", " ", "0", "-1", "9223372036854775808", "1e400", "é", "\u{301}\u{301}\u{301}", "%ff%00", "{}", "\"",
        ";;,,==", String(repeating: "a", count: 4_000), String(repeating: "\u{301}", count: 1_000),
        String(repeating: "1", count: 4_000), String(repeating: "%", count: 1_000),
        String(repeating: ",", count: 2_000),
    ]

    private func filled(_ byteCount: Int, _ start: String, _ part: String, _ end: String) -> [UInt8] {
        let part = Array(part.utf8)
        var bytes = Array(start.utf8)
        while bytes.count < byteCount { bytes += part }
        return bytes + Array(end.utf8)
    }

    private func members(_ byteCount: Int, _ member: (Int) -> String) -> [UInt8] {
        var bytes = Array("{".utf8)
        var number = 0
        while bytes.count < byteCount {
            bytes += Array((member(number) + ",").utf8)
            number += 1
        }
        return bytes + Array((member(number) + "}").utf8)
    }
}
