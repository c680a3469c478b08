// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import TestSupport
import Testing

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> JSONValue {
        try JSONReader.read(Array(text.utf8))
    }

    @Test func `every kind of value is read`() throws {
        let value = try read(#" { "a" : [ null , true , false , -1.5e+3 , "x" , { } , [ ] ] } "#)
        guard case .array(let elements)? = value["a"], case .number(let number) = elements[3] else {
            Issue.record("no number where one was written")
            return
        }
        #expect(number.text == "-1.5e+3")
        #expect(number.doubleValue == -1_500)
        #expect(elements == [.null, true, false, .number(number), "x", [:], []])
    }

    @Test func `members keep their order and numbers their digits`() throws {
        let json = #"{"z":12345678901234567890.10,"a":0,"m":-0}"#
        #expect(try read(json).encoded() == Array(json.utf8))
    }

    @Test(
        arguments: [
            (1e-7, "1e-7"), (-2.5e-7, "-2.5e-7"), (1e-6, "0.000001"), (-1.5e-5, "-0.000015"), (0.0001, "0.0001"),
            (1e19, "10000000000000000000"), (-1.5e20, "-150000000000000000000"), (1e21, "1e+21"),
            (1.5e300, "1.5e+300"), (.leastNonzeroMagnitude, "5e-324"), (0.1 + 0.2, "0.30000000000000004"), (-0.0, "0"),
            (42, "42"),
        ] as [(Double, String)]
    )
    func `a number is written as JavaScript writes it`(value: Double, text: String) {
        #expect(JSONNumber(value)?.text == text)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"), (#""\ud83d\uDECE""#, "🛎"),
        (#""é🛎 raw""#, "é🛎 raw"), (#""\u0000""#, "\u{0}"), (#""a\nb\nc""#, "a\nb\nc"), (#""""#, ""),
    ])
    func `strings are unescaped`(json: String, text: String) throws {
        #expect(try read(json) == .string(text))
    }

    @Test(arguments: [
        ("", JSONError.Problem.unexpectedEnd, 1, 1),
        ("  \n ", .unexpectedEnd, 2, 2),
        ("{", .unexpectedEnd, 1, 2),
        (#"{"a""#, .unexpectedEnd, 1, 5),
        (#"{"a":1,}"#, .unexpectedByte(UInt8(ascii: "}")), 1, 8),
        ("[1,]", .unexpectedByte(UInt8(ascii: "]")), 1, 4),
        ("[1 2]", .unexpectedByte(UInt8(ascii: "2")), 1, 4),
        ("{a:1}", .unexpectedByte(UInt8(ascii: "a")), 1, 2),
        ("{'a':1}", .unexpectedByte(UInt8(ascii: "'")), 1, 2),
        ("\n{\n  \"a\" 1}", .unexpectedByte(UInt8(ascii: "1")), 3, 7),
        ("nul", .unexpectedEnd, 1, 4),
        ("True", .unexpectedByte(UInt8(ascii: "T")), 1, 1),
        ("01", .trailingBytes, 1, 2),
        ("+1", .unexpectedByte(UInt8(ascii: "+")), 1, 1),
        (".5", .unexpectedByte(UInt8(ascii: ".")), 1, 1),
        ("1.", .unexpectedEnd, 1, 3),
        ("1e", .unexpectedEnd, 1, 3),
        ("-", .unexpectedEnd, 1, 2),
        ("NaN", .unexpectedByte(UInt8(ascii: "N")), 1, 1),
        ("{} {}", .trailingBytes, 1, 4),
        ("{}\u{FEFF}", .trailingBytes, 1, 3),
        (#""\x""#, .badEscape, 1, 3),
        (#""\u12G4""#, .badEscape, 1, 6),
        (#""\udc00""#, .unpairedSurrogate, 1, 8),
        (#""\ud800x""#, .unpairedSurrogate, 1, 8),
        (#""\ud800\n""#, .unpairedSurrogate, 1, 8),
        (#""\ud800\u0041""#, .unpairedSurrogate, 1, 14),
        (#""\ud800"#, .unpairedSurrogate, 1, 8),
        (#""\ud800\"#, .unpairedSurrogate, 1, 8),
        (#""\ud800\u"#, .unexpectedEnd, 1, 10),
        ("\"a\u{1}\"", .controlCharacter, 1, 3),
        ("\"a\nb\"", .controlCharacter, 1, 3),
        (#"{"a":1,"b":2,"a":3}"#, .duplicateName("a"), 1, 14),
        (#"{"a":1,"\u0061":2}"#, .duplicateName("a"), 1, 8),
    ])
    func `an error has the problem and its position`(
        json: String,
        problem: JSONError.Problem,
        line: Int,
        column: Int
    ) {
        let error = #expect(throws: JSONError.self) { try self.read(json) }
        #expect(error?.problem == problem)
        #expect(error?.line == line)
        #expect(error?.column == column)
        #expect(error?.description.hasPrefix("line \(line), column \(column): ") == true)
    }

    @Test func `a byte order mark before the value is ignored, and nowhere else`() throws {
        #expect(try read("\u{FEFF}{\"a\":1}") == ["a": 1])
        let error = #expect(throws: JSONError.self) { try self.read("{\u{FEFF}\"a\":1}") }
        #expect(error?.description == "line 1, column 2: the invisible character U+FEFF cannot stand here")
    }

    @Test(arguments: [
        ("{“a”:1}", "line 1, column 2: '“' cannot stand here: JSON has straight quotation marks (\")"),
        ("[é]", "line 1, column 2: 'é' cannot stand here"), ("{a:1}", "line 1, column 2: 'a' cannot stand here"),
        ("[\u{A0}1]", "line 1, column 2: the invisible character U+A0 cannot stand here"),
        ("[\u{7}]", "line 1, column 2: the byte 7 cannot stand here"),
    ])
    func `an error names the unexpected character`(json: String, message: String) {
        let error = #expect(throws: JSONError.self) { try self.read(json) }
        #expect(error?.description == message)
    }

    @Test func `a duplicate name among many is found`() {
        let members = (0..<100).map { "\"name\($0)\":0" } + ["\"name7\":0"]
        let error = #expect(throws: JSONError.self) { try self.read("{\(members.joined(separator: ","))}") }
        #expect(error?.problem == .duplicateName("name7"))
    }

    @Test(
        arguments: [[0xFF], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22]] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONReader.read(bytes) }
        #expect(error?.problem == .notUTF8)
    }

    @Test func `nesting has a bound`() throws {
        let depth = JSONReader.maximumDepth
        _ = try read(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        let error = #expect(throws: JSONError.self) { try self.read(String(repeating: "[", count: 1_000_000)) }
        #expect(error?.problem == .tooDeep)
    }

    @Test func `the number of values has a bound if the reader sets one`() throws {
        // An object, an array and three numbers.
        let bytes = Array(#"{"a":[0,1,2]}"#.utf8)
        _ = try JSONReader.read(bytes, maximumValueCount: 5)
        let error = #expect(throws: JSONError.self) { try JSONReader.read(bytes, maximumValueCount: 4) }
        #expect(error?.problem == .tooManyValues(maximum: 4) && error?.offset == 10)
        #expect(error?.rule == "cannot be used")
    }

    @Test func `size has a bound`() {
        let error = #expect(throws: JSONError.self) {
            try JSONReader.read([UInt8](repeating: UInt8(ascii: " "), count: JSONReader.maximumByteCount + 1))
        }
        #expect(error?.problem == .tooLong)
    }

    @Test(arguments: [
        (#""\ud800""#, "\u{FFFD}"), (#""a\udc00b""#, "a\u{FFFD}b"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\n""#, "\u{FFFD}\n"),
    ])
    func `half a surrogate pair in a payload is replaced`(json: String, text: String) throws {
        #expect(try JSONReader.readPayload(Array(json.utf8)) == .string(text))
        #expect(JSONReader.isObject(Array("{\(json):1}".utf8)), "it is valid JSON")
        #expect(throws: JSONError.self) { try self.read(json) }
    }

    @Test(
        arguments: [
            ("1", 1), ("1.0", 1), ("1e0", 1), ("-2.50e1", -25), ("100e-2", 1), ("0.0", 0), ("-0", 0), ("0e99999", 0),
            ("1.5", nil), ("1e-1", nil), ("9223372036854775807.0", .max), ("9223372036854775808.0", nil), ("1e19", nil),
            ("1e99999999999999999999", nil), ("1e-9223372036854775808", nil), ("1.1e-9223372036854775808", nil),
        ] as [(String, Int64?)]
    )
    func `a whole number is read in any notation`(text: String, value: Int64?) throws {
        #expect(try read(text).wholeValue == value)
    }

    @Test(arguments: [("{}", true), (" {\"a\":[1]} ", true), ("[]", false), ("{", false), ("{}x", false), ("", false)])
    func `an object is recognised without being built`(json: String, isObject: Bool) {
        #expect(JSONReader.isObject(Array(json.utf8)) == isObject)
    }

    /// Comparison with Foundation's reader, over mutations of valid text; the seed makes a failure repeat.
    @Test(arguments: 0..<20) func `accepted text has the same value in Foundation`(seed: UInt64) throws {
        var generator = SplitMix64(state: seed)
        let original = Array(#"{"aps":{"alert":{"title":"Tést \u00e9\n","n":[1,-2.5e3,true,null]},"x":"🛎"}}"#.utf8)
        for _ in 0..<2_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: index)
                }
            }
            guard let value = try? JSONReader.read(bytes) else { continue }
            let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            let ours = try JSONSerialization.jsonObject(with: Data(value.encoded()), options: .fragmentsAllowed)
            #expect((theirs as? NSObject) == (ours as? NSObject), "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
