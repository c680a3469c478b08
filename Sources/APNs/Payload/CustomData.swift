#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The app's own part of a payload: any keys beside `aps`.
///
/// It is made once and holds bytes, so that a notification that goes to many devices is not encoded many times.
/// Source: "Generating a remote notification".
public struct CustomData: Sendable, Hashable {
    /// The members as JSON, without the braces around them.
    let members: [UInt8]

    /// What any encodable value encodes to, which must be an object without a key `aps`.
    ///
    /// - Parameter value: The value; dates and data encode as the phone's default `JSONDecoder` expects them.
    /// - Throws: ``PayloadError`` when the value cannot be encoded, or to something else.
    public init(_ value: some Encodable) throws(PayloadError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw .notEncodable("\(error)")
        }
        try self.init(json: Array(data))
    }

    /// An object that is JSON already; its bytes are kept as they are.
    ///
    /// - Parameter json: One JSON object without a key `aps`.
    /// - Throws: ``PayloadError`` when it is something else.
    public init(json: [UInt8]) throws(PayloadError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(json)
        } catch {
            throw .notJSON(error)
        }
        guard let names = value.members?.map(\.name) else { throw .notAnObject }
        guard !names.contains("aps") else { throw .reservedKey }
        guard let start = json.firstIndex(of: UInt8(ascii: "{")), let end = json.lastIndex(of: UInt8(ascii: "}")) else {
            throw .notAnObject
        }
        members = names.isEmpty ? [] : Array(json[(start + 1)..<end])
    }
}
