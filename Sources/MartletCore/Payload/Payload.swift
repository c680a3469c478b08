// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The content of a push: the `aps` dictionary with the app's own data, or bytes that are sent unchanged.
    ///
    /// After decoding, ``encoded()`` returns the same bytes.
    public struct Payload: Sendable, Hashable, Codable {
        private enum Content: Sendable, Hashable {
            case typed(TypedContent)
            case opaque([UInt8])
        }

        /// An object, so that copying a notification copies one reference, and reading one field copies only that.
        private final class TypedContent: Sendable, Hashable {
            let aps: APS
            let custom: CustomData?

            init(_ aps: APS, _ custom: CustomData?) {
                self.aps = aps
                self.custom = custom
            }

            static func == (left: TypedContent, right: TypedContent) -> Bool {
                left === right || left.aps == right.aps && left.custom == right.custom
            }

            func hash(into hasher: inout Hasher) {
                hasher.combine(aps)
                hasher.combine(custom)
            }
        }

        private enum CodingKeys: CodingKey {
            case aps, custom, json, bytes
        }

        private let content: Content

        /// Creates a payload from the `aps` dictionary and the app's own data.
        public init(_ aps: APS, custom: CustomData? = nil) {
            content = .typed(TypedContent(aps, custom))
        }

        /// Creates a payload from bytes that are sent unchanged.
        public init(opaque bytes: some Sequence<UInt8>) {
            content = .opaque(Array(bytes))
        }

        /// The `aps` dictionary; nil if the payload is opaque.
        public var aps: APS? {
            if case .typed(let content) = content { content.aps } else { nil }
        }

        /// The numbers of `aps` whose ranges the types do not restrict, read without copying the dictionary.
        var numbers: (badge: Int?, relevanceScore: Double?, volume: Double?) {
            guard case .typed(let content) = content else { return (nil, nil, nil) }
            return (content.aps.badge, content.aps.relevanceScore, content.aps.sound?.volume)
        }

        /// Returns the payload as it is sent: compact JSON in UTF-8 with the keys in the order of Apple's tables.
        ///
        /// - Returns: The bytes.
        /// - Throws: ``PayloadError/notFinite(key:)`` for a number that JSON cannot represent.
        public func encoded() throws(PayloadError) -> [UInt8] {
            switch content {
            case .opaque(let bytes):
                return bytes
            case .typed(let content):
                var object = JSONObjectWriter(capacity: 512 + (content.custom?.members.count ?? 0))
                try object.write("aps") { (object) throws(PayloadError) in try content.aps.write(into: &object) }
                if let custom = content.custom { object.splice(custom.members) }
                return object.finish()
            }
        }

        /// Decodes what ``encode(to:)`` encodes.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            if let text = try values.decodeIfPresent(String.self, forKey: .json) {
                self.init(opaque: text.utf8)
            } else if let bytes = try values.decodeIfPresent([UInt8].self, forKey: .bytes) {
                self.init(opaque: bytes)
            } else {
                self.init(try values.decode(APS.self, forKey: .aps), custom: try Payload.custom(in: values))
            }
        }

        private static func custom(in values: KeyedDecodingContainer<CodingKeys>) throws -> CustomData? {
            guard let text = try values.decodeIfPresent(JSONText.self, forKey: .custom) else { return nil }
            do throws(PayloadError) {
                return try CustomData(json: text.bytes)
            } catch {
                throw DecodingError.dataCorruptedError(forKey: .custom, in: values, debugDescription: "\(error)")
            }
        }

        /// Encodes `aps` and `custom`, or the bytes of an opaque payload as `json`, or as `bytes` when they are not
        /// text.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch content {
            case .typed(let content):
                try values.encode(content.aps, forKey: .aps)
                try values.encodeIfPresent(content.custom.map { JSONText($0.json) }, forKey: .custom)
            case .opaque(let bytes):
                if let text = String(validating: bytes, as: UTF8.self) {
                    try values.encode(text, forKey: .json)
                } else {
                    try values.encode(bytes, forKey: .bytes)
                }
            }
        }
    }
}

/// The reason for which a payload cannot be created.
public enum PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number at this key is infinite or NaN, which JSON cannot represent.
    case notFinite(key: String)
    /// The date at this key is before 1970, later than JSON integers can represent, or not a number; `found` is its
    /// number of seconds after 1970 as text, since a `Date` that is not a number cannot be printed.
    case dateOutOfRange(key: String, found: String)
    /// The custom data cannot be encoded.
    case notEncodable(String)
    /// The custom data is not valid JSON.
    case notJSON(JSONError)
    /// The custom data is JSON, but not an object.
    case notAnObject
    /// The custom data has a key `aps`, which is reserved for Apple's dictionary.
    case reservedKey

    /// The rule that is broken, in a sentence without the final stop.
    public var description: String {
        switch self {
        case .notFinite(let key): "the value of \(key) is not a finite number"
        case .dateOutOfRange(let key, let found):
            "\(key) must be from 0 to \(PayloadDate.latest) seconds after 1970 (found \(found))"
        case .notEncodable(let why): "the custom data cannot be encoded: \(why)"
        case .notJSON(let error): "the custom data is not valid JSON: \(error)"
        case .notAnObject: "the custom data must encode to a JSON object, whose members are beside aps"
        case .reservedKey: "the custom data has a key aps, which belongs to Apple's part of the payload"
        }
    }
}
