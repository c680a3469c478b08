// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Encodes content that a phone decodes with its default `JSONDecoder`.
enum LiveActivityContent {
    /// Encodes a value, which must encode to a JSON object.
    static func encode(_ value: some Encodable, for key: String) throws(PayloadError) -> JSONText {
        // A JSON value is written as it is, with its order of members and its digits.
        if let json = value as? JSONValue {
            guard json.members != nil else { throw .notEncodable("\(key) must be a JSON object") }
            return JSONText(json.encoded())
        }
        // Without strategies, a date is encoded as seconds since 2001 and data as base64, as ActivityKit expects.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw .notEncodable("\(key): \(error)")
        }
        guard data.first == UInt8(ascii: "{") else { throw .notEncodable("\(key) must encode to a JSON object") }
        return JSONText(Array(data))
    }
}
