// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTPFieldsTests {
    @Test func `fields are returned in the order in which they were added`() {
        let fields: HTTPFields = [":status": "200", "b": "1", "a": "2", "b": "3"]
        #expect(fields.count == 4)
        #expect(fields.map(\.name) == [":status", "b", "a", "b"])
        #expect(fields.map(\.value) == ["200", "1", "2", "3"])
    }

    @Test func `a name is looked up whole, and its first field wins`() {
        let fields: HTTPFields = ["apns-id-x": "no", "apns-id": "first", "apns-id": "second"]
        #expect(fields["apns-id"] == "first")
        #expect(fields["apns"] == nil)
        #expect(fields.bytes(of: "apns-id") == Array("first".utf8))
    }

    @Test func `an empty list has no fields and no size`() {
        let fields = HTTPFields()
        #expect(fields.count == 0)
        #expect(fields.byteCount == 0)
        #expect(Array(fields).isEmpty)
        #expect(fields["a"] == nil)
    }

    @Test func `the size of a list has 32 bytes for each field`() {
        #expect(HTTPFields().listSize == 0)
        let fields: HTTPFields = ["a": "1", "name": "value"]
        #expect(fields.listSize == 2 + 32 + 9 + 32)
    }

    @Test func `empty names and values are stored`() {
        let fields: HTTPFields = ["": "value", "name": ""]
        #expect(fields.map(\.name) == ["", "name"])
        #expect(fields.map(\.value) == ["value", ""])
    }

    @Test func `a field that is added to a list is not added to its copy`() {
        var first: HTTPFields = ["a": "1"]
        let second = first
        first.append("b", "2")
        #expect(first.count == 2)
        #expect(second.count == 1)
    }

    @Test func `a list can be added to itself`() {
        var fields: HTTPFields = ["a": "1", "b": "2"]
        fields.append(contentsOf: fields)
        #expect(fields.map(\.name) == ["a", "b", "a", "b"])
    }

    @Test func `memory grows with many and with long fields`() {
        var fields = HTTPFields(capacity: 1)
        for number in 0..<1_000 { fields.append("name-\(number)", String(repeating: "v", count: number)) }
        #expect(fields.count == 1_000)
        #expect(fields["name-999"]?.utf8.count == 999)
        #expect(fields["name-0"] == "")
    }

    @Test func `bytes that are not UTF-8 are kept, and replaced only in text`() {
        var fields = HTTPFields()
        fields.append("a", count: 2) { value in
            value.storeBytes(of: 0xFF, toByteOffset: 0, as: UInt8.self)
            value.storeBytes(of: 0x41, toByteOffset: 1, as: UInt8.self)
        }
        #expect(fields.bytes(of: "a") == [0xFF, 0x41])
        #expect(fields["a"] == "\u{FFFD}A")
    }

    @Test func `bytes that are not written in place are zero`() {
        var fields = HTTPFields()
        fields.append("a", after: "b/", count: 3) {
            $0.storeBytes(of: UInt8(ascii: "c"), toByteOffset: 1, as: UInt8.self)
        }
        #expect(fields["a"] == "b/\0c\0")
    }

    @Test func `equal lists have the same fields in the same order`() {
        let fields: HTTPFields = ["a": "1", "b": "2"]
        var grown = HTTPFields(capacity: 4_096)
        grown.append("a", "1")
        grown.append("b", "2")
        #expect(fields == grown)
        #expect(fields.hashValue == grown.hashValue)
        #expect(fields != ["b": "2", "a": "1"])
        #expect(fields != ["a": "1"])
        #expect(["ab": "c"] as HTTPFields != ["a": "bc"])
    }

    @Test func `lists with different compression hints are equal`() {
        var indexed = HTTPFields()
        indexed.append("apns-id", "1")
        var literal = HTTPFields()
        literal.append("apns-id", "1", isIndexed: false)
        #expect(indexed == literal)
        #expect(indexed.hashValue == literal.hashValue)
    }

    @Test(arguments: [
        ("200", 200), ("404", 404), ("100", 100), ("", 0), ("x20", 0), ("2x0", 0), ("20x", 0), ("20", 0), ("2000", 0),
    ])
    func `a status is three digits, and 0 otherwise`(text: String, status: Int) {
        #expect(([":status": text] as HTTPFields).status == status)
    }

    @Test func `no status field is status 0`() {
        #expect(HTTPFields().status == 0)
    }

    @Test func `the first repeated name with a beginning is found`() {
        let fields: HTTPFields = ["x": "1", "x": "2", "apns-id": "1", "apns-topic": "2", "apns-id": "3"]
        #expect(fields.firstDuplicate(startingWith: "apns-", or: "authorization") == "apns-id")
        #expect(fields.firstDuplicate(startingWith: ":", or: "authorization") == nil)
    }

    @Test func `the rest of a value follows its prefix`() {
        let fields: HTTPFields = [":path": "/3/device/5d3a", "empty": ""]
        #expect(fields.text(of: ":path", after: "/3/device/") == "5d3a")
        #expect(fields.text(of: ":path", after: "/3/device/5d3a") == "")
        #expect(fields.text(of: ":path", after: "/3/device/5d3a6a") == nil)
        #expect(fields.text(of: ":path", after: "/4/") == nil && fields.text(of: "other", after: "") == nil)
        #expect(fields.text(of: "empty", after: "") == "")
    }
}
