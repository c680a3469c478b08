#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes what a phone reads with its default `JSONDecoder`.
enum LiveActivityContent {
    /// A value as JSON, which has to be an object.
    static func encode(_ value: some Encodable, for key: String) throws(PayloadError) -> [UInt8] {
        // What is JSON already keeps its order and digits.
        if let json = value as? JSONValue {
            guard json.members != nil else { throw .notEncodable("\(key) has to be a JSON object") }
            return json.encoded()
        }
        // No strategies: a date is then seconds since 2001 and data is base64, as ActivityKit expects them.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw .notEncodable("\(key): \(error)")
        }
        guard data.first == UInt8(ascii: "{") else { throw .notEncodable("\(key) has to encode to a JSON object") }
        return Array(data)
    }
}
