// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@Suite struct APNsIDTests {
    @Test(arguments: ["00000000-0000-4000-8000-000000000000", "eabeae54-14a8-11e5-b60b-1697f925ec7b"])
    func `canonical text is read and written unchanged`(text: String) throws {
        #expect(try APNsID(text).description == text)
    }

    @Test(arguments: [
        "", "eabeae54", "EABEAE54-14A8-11E5-B60B-1697F925EC7B", "eabeae5414a811e5b60b1697f925ec7b",
        "eabeae54-14a8-11e5-b60b-1697f925ec7", "eabeae54-14a8-11e5-b60b-1697f925ec7bb",
        "eabeae54-14a8-11e5-b60b-1697f925ec7g", "eabeae54-14a8-11e5-b60b-1697f925ec-b",
        "{eabeae54-14a8-11e5-b60b-1697f925ec7b}",
    ])
    func `other forms are refused`(text: String) {
        #expect(throws: APNsIDError.self) { try APNsID(text) }
    }

    @Test func `upper case is accepted on request`() throws {
        let id = try APNsID("EABEAE54-14A8-11E5-B60B-1697F925EC7B", allowsUpperCase: true)
        #expect(id.description == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    }

    @Test(arguments: [UInt64.min, .max, 0x0123_4567_89AB_CDEF])
    func `a random identifier is a version 4 UUID`(bits: UInt64) throws {
        let text = Array(APNsID(randomBits: (bits, bits)).description)
        #expect(text[14] == "4")
        #expect(["8", "9", "a", "b"].contains(text[19]))
        #expect(try APNsID(String(text)).description == String(text))
    }

    @Test func `random identifiers differ`() {
        var generator = SystemRandomNumberGenerator()
        let identifiers = Set((0..<1_000).map { _ in APNsID.random(using: &generator) })
        #expect(identifiers.count == 1_000)
    }
}

@Suite struct CollapseIDTests {
    @Test(arguments: [
        ("a", true), (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
    ])
    func `a collapse identifier has at most 64 bytes`(text: String, isValid: Bool) {
        #expect(((try? CollapseID(text)) != nil) == isValid)
    }

    @Test func `the length of a collapse identifier is counted in bytes`() {
        let error = #expect(throws: CollapseIDError.self) { try CollapseID(String(repeating: "é", count: 33)) }
        #expect(error?.byteCount == 66)
    }

    @Test(arguments: ["a\r\nx-evil: 1", "a\0", "a\u{7F}", " a", "a ", "\ta", "a\tb"])
    func `text that no header can carry is refused`(text: String) {
        let error = #expect(throws: CollapseIDError.self) { try CollapseID(text) }
        #expect(error?.description.contains("control characters") == true)
        #expect(CollapseID(rawValue: text) == nil)
    }

    @Test func `text in any script is accepted`() throws {
        let text = "bestellung ü 注文"
        #expect(try CollapseID(text).rawValue == text)
    }

    @Test func `an empty collapse identifier is refused`() {
        let text = ""
        #expect(throws: CollapseIDError.self) { try CollapseID(text) }
    }
}
