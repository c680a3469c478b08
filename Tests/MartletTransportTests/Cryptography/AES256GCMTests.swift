// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct AES256GCMTests {
    private let key = [UInt8](repeating: 0, count: 32)
    private let nonce = [UInt8](repeating: 0, count: 12)

    /// Test cases 13 and 14 of "The Galois/Counter Mode of Operation" (McGrew, Viega).
    @Test(arguments: [
        (0, "530f8afbc74536b9a963b4f1c4cb738b"),
        (16, "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
    ])
    func `the result is that of the specification`(byteCount: Int, expected: String) throws {
        let bytes = [UInt8](repeating: 0, count: byteCount)
        let encrypted = try AES256GCM.encrypt(bytes, key: key, nonce: nonce, authenticating: [])
        #expect(encrypted.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
        #expect(try AES256GCM.decrypt(encrypted[...], key: key, nonce: nonce, authenticating: []) == bytes)
    }

    @Test func `any changed bit is detected`() throws {
        let encrypted = try AES256GCM.encrypt([1, 2, 3], key: key, nonce: nonce, authenticating: [4])
        #expect(try AES256GCM.decrypt(encrypted[...], key: key, nonce: nonce, authenticating: [4]) == [1, 2, 3])
        for bit in 0..<8 * encrypted.count {
            var changed = encrypted
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(try AES256GCM.decrypt(changed[...], key: key, nonce: nonce, authenticating: [4]) == nil)
        }
        #expect(try AES256GCM.decrypt(encrypted[...], key: key, nonce: nonce, authenticating: [5]) == nil)
        #expect(try AES256GCM.decrypt(encrypted.dropLast(), key: key, nonce: nonce, authenticating: [4]) == nil)
        #expect(try AES256GCM.decrypt([], key: key, nonce: nonce, authenticating: [4]) == nil)
    }

    @Test func `a key or a nonce of another length is an error`() {
        #expect(throws: CryptographyError.self) {
            try AES256GCM.encrypt([1], key: [1], nonce: nonce, authenticating: [])
        }
        #expect(throws: CryptographyError.self) {
            try AES256GCM.encrypt([1], key: key, nonce: [1], authenticating: [])
        }
    }
}
