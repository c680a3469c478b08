// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushNotification {
    /// The part of a payload that the app defines: any keys beside `aps`.
    ///
    /// The data is encoded once and stored as bytes, so that a notification for many devices is not encoded for each of
    /// them.
    /// Source: "Generating a remote notification".
    public struct CustomData: Sendable, Hashable {
        // It is not `Encodable`, because it would then also be accepted where any value of the caller is encoded.

        /// The members as JSON, without the braces around them.
        let members: [UInt8]

        /// The JSON object.
        var json: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }

        /// The form in which dates are written.
        public enum DateFormat: Sendable, Hashable {
            /// Text such as `2026-11-22T14:41:38Z`, in UTC and without fractions of a second (ISO 8601), which are cut:
            /// the strategy `.iso8601`, with which an app decodes it, rejects them on older systems. The other forms
            /// keep them.
            case iso8601
            /// The number of seconds since 1970. An app decodes it with the strategy `.secondsSince1970`.
            case secondsSince1970
            /// The number of seconds since 2001, which a `JSONDecoder` without a strategy expects.
            case secondsSince2001
        }

        /// Encodes a value, which must encode to an object without a key `aps`.
        ///
        /// - Parameters:
        ///   - value: The value; data is written as base64.
        ///   - dates: The form in which dates are written; ISO 8601 in whole seconds by default, which is the same on
        ///     every platform. The content of a Live Activity has no such option: ActivityKit decodes it without a
        ///     strategy.
        /// - Throws: ``PayloadError`` if the value cannot be encoded (for example because a date is not a number) or
        ///   does not encode to such an object.
        public init(_ value: some Encodable, dates: DateFormat = .iso8601) throws(PayloadError) {
            let encoder = JSONEncoder()
            switch dates {
            case .iso8601: encoder.dateEncodingStrategy = .custom(CustomData.writeISO8601)
            case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
            case .secondsSince2001: encoder.dateEncodingStrategy = .deferredToDate
            }
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let data: Data
            do {
                data = try encoder.encode(value)
            } catch {
                throw .notEncodable("\(error)")
            }
            try self.init(json: Array(data))
        }

        /// Writes a date as text, and rejects a date without such a text, for which the encoder's own strategy writes
        /// another date.
        private static func writeISO8601(_ date: Date, to encoder: any Encoder) throws {
            let seconds = date.timeIntervalSince1970
            guard years0To9999.contains(seconds) else {
                throw EncodingError.invalidValue(
                    seconds,
                    EncodingError.Context(
                        codingPath: encoder.codingPath,
                        debugDescription: "a date must be in the years 0 to 9999 to be written as ISO 8601"
                    )
                )
            }
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(.iso8601))
        }

        /// The times whose year has four digits in ISO 8601, in seconds since 1970.
        private static let years0To9999: Range<Double> = -62_167_219_200..<253_402_300_800

        /// Creates custom data from a JSON object; its bytes are preserved.
        ///
        /// - Parameter json: A JSON object without a key `aps`.
        /// - Throws: ``PayloadError`` for any other text.
        public init(json: some Sequence<UInt8>) throws(PayloadError) {
            let json = Array(json)
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONReader.read(json)
            } catch {
                throw .notJSON(error)
            }
            guard let names = value.members?.map(\.name) else { throw .notAnObject }
            guard !names.contains("aps") else { throw .reservedKey }
            guard let start = json.firstIndex(of: UInt8(ascii: "{")), let end = json.lastIndex(of: UInt8(ascii: "}"))
            else {
                throw .notAnObject
            }
            members = names.isEmpty ? [] : Array(json[(start + 1)..<end])
        }
    }
}
