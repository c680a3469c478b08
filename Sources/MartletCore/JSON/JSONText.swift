// SPDX-License-Identifier: Apache-2.0

/// The bytes of a JSON object, stored as text so that they are the same after decoding.
///
/// An encoder that is given the object's members instead writes them in its own order and notation.
struct JSONText: Sendable, Hashable, Codable, CustomStringConvertible {
    /// JSON in UTF-8.
    let bytes: [UInt8]

    var description: String { String(decoding: bytes, as: UTF8.self) }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        bytes = Array(try container.decode(String.self).utf8)
        guard JSONReader.isObject(bytes) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not a JSON object")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: bytes, as: UTF8.self))
    }
}
