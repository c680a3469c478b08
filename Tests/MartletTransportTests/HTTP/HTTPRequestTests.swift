// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTPRequestTests {
    private func request(_ target: String) -> HTTPRequest {
        HTTPRequest(method: "GET", scheme: "http", authority: "localhost", target: target, fields: ["a": "b"])
    }

    @Test func `pseudo fields come first, in the order of the RFC`() {
        let request = request("/path")
        #expect(request.fields.map(\.name) == [":method", ":scheme", ":authority", ":path", "a"])
        #expect(request.method == "GET")
        #expect(request.target == "/path")
    }

    @Test(arguments: [("/a/b", "/a/b"), ("/a?b=c", "/a"), ("/a%3Fb?c", "/a%3Fb"), ("?a", ""), ("*", "*"), ("", "")])
    func `the path ends at the question mark and stays encoded`(target: String, path: String) {
        #expect(request(target).path == path)
    }

    @Test func `names and values of a query are decoded in order`() {
        let query = request("/?a=1&b=%41%20c&a=2+3&flag&empty=&eq=x=y&=nameless").query
        #expect(query.map(\.name) == ["a", "b", "a", "flag", "empty", "eq", ""])
        #expect(query.map(\.value) == ["1", "A c", "2 3", "", "", "x=y", "nameless"])
    }

    @Test(arguments: ["/", "/?", "/?&&"]) func `a query without pairs is empty`(target: String) {
        #expect(request(target).query.isEmpty)
    }

    @Test(arguments: ["%", "%4", "%zz", "%4g", "%-0", "%-1", "%%"])
    func `a broken escape stays as it is`(text: String) {
        #expect(request("/?a=\(text)").query.first?.value == text)
    }

    @Test func `a sign is no digit of an escape`() {
        // The plus is a space of its own, as everywhere in a query.
        #expect(request("/?a=%+F").query.first?.value == "% F")
    }

    @Test func `an escape at the very end is decoded`() {
        #expect(request("/?a=b%43").query.first?.value == "bC")
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        #expect(request("/?a=%FF%41").query.first?.value == "\u{FFFD}A")
        #expect(request("/?a=%C3%A9").query.first?.value == "é")
    }

    @Test(arguments: [
        ("/a", true), ("/%C3%A9", true), ("/?a=%C3%A9", true), ("/%zz", true), ("/%FF", false), ("/?a=%FF", false),
        ("/%C3", false), ("/%ED%A0%80", false), ("/%C0%AF", false),
    ])
    func `a target is UTF-8 or not after decoding`(target: String, isUTF8: Bool) {
        #expect(request(target).hasUTF8Target == isUTF8)
    }

    @Test(arguments: [
        ("/a", true), ("/%25", true), ("/%c3%A9", true), ("/?a=%", true), ("/%", false), ("/%4", false),
        ("/%zz/a", false), ("/%%41", false), ("/%+1", false), ("/a%4?b", false),
    ])
    func `the escapes of a path are valid or not`(target: String, areValid: Bool) {
        #expect(request(target).hasValidEscapes == areValid)
    }

    @Test func `a response has its status first`() {
        let response = HTTPResponse(status: 404, fields: ["a": "b"], body: [1])
        #expect(response.fields.map(\.name) == [":status", "a"])
        #expect(response.status == 404)
    }
}
