// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import MartletOutbox

extension SealingKeys {
    /// Keys with some numbers, each of which stands for the same key in every test.
    static func numbered(_ numbers: UInt8...) throws -> SealingKeys {
        try SealingKeys(numbers.map { "\($0) \(base64($0))" }.joined(separator: "\n"))
    }

    static func base64(_ byte: UInt8) -> String { Data(repeating: byte, count: 32).base64EncodedString() }
}

@Suite struct SealingKeysTests {
    @Test func `the first key seals, and each key is found by its number`() throws {
        let keys = try SealingKeys("\r\n 7\t\(SealingKeys.base64(7)) \r\n\n1 \(SealingKeys.base64(1))\n")
        #expect(keys.first == keys.key(7))
        #expect(keys.key(1)?.bytes == [UInt8](repeating: 1, count: 32) && keys.key(2) == nil)
        #expect(keys.list == "7, 1")
    }

    @Test(arguments: [
        ("", "no key"), ("\n \n", "no key"), ("1", "line 1"), ("\(SealingKeys.base64(1))", "line 1"),
        ("0 \(SealingKeys.base64(1))", "line 1"), ("one \(SealingKeys.base64(1))", "line 1"),
        ("1 \(SealingKeys.base64(1)) 2", "line 1"), ("\n1 AAAA", "line 2"), ("1 !", "line 1"),
        ("1 \(SealingKeys.base64(1))\n1 \(SealingKeys.base64(2))", "line 2 has the number"),
        ("1 \(SealingKeys.base64(1))\n2 \(SealingKeys.base64(1))", "line 2 has the number"),
    ])
    func `the error names the line and shows nothing of it`(text: String, expected: String) throws {
        let error = try #require(throws: SealingKeysError.self) { try SealingKeys(text) }
        #expect(error.description.contains(expected), "\(error)")
        #expect(!error.description.contains(SealingKeys.base64(1)))
    }

    @Test func `no text shows a key`() throws {
        let keys = try SealingKeys.numbered(1, 2)
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped] {
            #expect(!text.contains(SealingKeys.base64(1)) && !text.contains("1, 1, 1"), "\(text)")
        }
    }

    @Test func `a data key is opened with its key only`() throws {
        let dataKey = OutboxSeal.newDataKey()
        let sealed = try SealedKey(dataKey, with: SealingKeys.numbered(3).first)
        #expect(try sealed.open(with: .numbered(1, 3)) == dataKey)
        let missing = try #require(throws: OutboxError.self) { try sealed.open(with: .numbered(1, 2)) }
        #expect(missing.description.contains("the key 3") && missing.description.contains("1, 2"))
        let other = try SealingKeys("3 \(SealingKeys.base64(4))")
        let wrong = try #require(throws: OutboxError.self) { try sealed.open(with: other) }
        #expect(wrong.description.contains("another key 3"))
        let again = try SealedKey(dataKey, with: SealingKeys.numbered(4).first)
        #expect(again.id == sealed.id && again.bytes != sealed.bytes)
    }
}
