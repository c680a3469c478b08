// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@Suite struct DeviceTokenTests {
    @Test func `digits are lower-cased`() throws {
        #expect(try DeviceToken(hex: "ABCDEF01").hex == "abcdef01")
    }

    @Test func `bytes become two digits each`() throws {
        #expect(try DeviceToken(bytes: [0x00, 0x0F, 0xA0, 0xFF]).hex == "000fa0ff")
    }

    @Test func `tokens from digits and from bytes are equal`() throws {
        #expect(try DeviceToken(hex: "AB01") == DeviceToken(bytes: [0xAB, 0x01]))
    }

    @Test(arguments: [1, 8, 32, 54, 80, 100, DeviceToken.maximumByteCount])
    func `any length up to the bound is a token`(byteCount: Int) throws {
        let token = try DeviceToken(bytes: [UInt8](repeating: 0x5A, count: byteCount))
        #expect(token.hex.utf8.count == 2 * byteCount)
        #expect(try DeviceToken(hex: token.hex) == token)
    }

    @Test(arguments: [2, 31, 32, 33]) func `every digit counts`(byteCount: Int) throws {
        let digits = (0..<2 * byteCount).map { "0123456789abcdef".utf8.map { $0 }[$0 * 7 % 16] }
        let token = try DeviceToken(hex: String(decoding: digits, as: UTF8.self))
        #expect(Array(token.hex.utf8) == digits)
        #expect(try DeviceToken(hex: token.hex.uppercased()) == token)
        for place in digits.indices {
            for other in "0123456789abcdef".utf8 where other != digits[place] {
                var changed = digits
                changed[place] = other
                let neighbour = try DeviceToken(hex: String(decoding: changed, as: UTF8.self))
                let isOther = neighbour != token && Array(neighbour.hex.utf8) == changed
                #expect(isOther, "\(place)")
            }
        }
    }

    @Test(arguments: [
        ("", DeviceTokenError.empty),
        ("a", .oddDigitCount(1)),
        ("abc", .oddDigitCount(3)),
        ("0g", .notHexadecimal(offset: 1)),
        ("<5d3a>", .notHexadecimal(offset: 0)),
        ("5d3a 6a1c", .notHexadecimal(offset: 4)),
        ("ａｂ", .notHexadecimal(offset: 0)),
        (String(repeating: "a", count: 2 * DeviceToken.maximumByteCount + 2), .tooLong(byteCount: 513)),
    ])
    func `an invalid token is refused with the rule`(text: String, error: DeviceTokenError) {
        #expect(throws: error) { try DeviceToken(hex: text) }
    }

    @Test func `a token without bytes is refused`() {
        #expect(throws: DeviceTokenError.empty) { try DeviceToken(bytes: [UInt8]()) }
    }

    @Test func `descriptions and dumps have only the start of the token`() throws {
        let token = try DeviceToken(hex: "0123456789abcdef0123456789abcdef")
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped, "\([token])"] {
            #expect(text.contains("01234567…"))
            #expect(!text.contains("012345678"))
        }
    }

    @Test func `errors do not repeat the token`() {
        for text in ["0123456789abcdef0", "0123456789abcdeg"] {
            let error = #expect(throws: DeviceTokenError.self) { try DeviceToken(hex: text) }
            #expect(error?.description.contains("01234567") == false)
        }
    }

    @Test func `a token is encoded and decoded as its digits`() throws {
        let tokens = [try DeviceToken(hex: "5d3a")]
        let data = try JSONEncoder().encode(tokens)
        #expect(String(decoding: data, as: UTF8.self) == #"["5d3a"]"#)
        #expect(try JSONDecoder().decode([DeviceToken].self, from: data) == tokens)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DeviceToken].self, from: Data(#"["5d3"]"#.utf8))
        }
    }
}
