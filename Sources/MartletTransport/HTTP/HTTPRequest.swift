// SPDX-License-Identifier: Apache-2.0

/// A complete HTTP request for HTTP/2 and HTTP/1.1: fields, including `:method`, `:scheme`, `:authority` and `:path`
/// (RFC 9113 §8.3.1), and a body.
package struct HTTPRequest: Sendable, Hashable {
    /// All fields, pseudo-header fields first.
    package var fields: HTTPFields
    /// The complete body; empty when there is none.
    package var body: [UInt8]
    /// The client's address with its port; nil for a request that was not received over HTTP/1.1.
    package var peer: String?

    /// Creates a request from fields that include the pseudo-header fields.
    package init(fields: HTTPFields, body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    /// Creates a request from its parts; `target` is the path with its query.
    package init(
        method: String,
        scheme: String,
        authority: String,
        target: String,
        fields: HTTPFields = [:],
        body: [UInt8] = []
    ) {
        var all: HTTPFields = [":method": method, ":scheme": scheme, ":authority": authority, ":path": target]
        all.append(contentsOf: fields)
        self.init(fields: all, body: body)
    }

    /// The method, such as `GET` or `POST`; empty when it is missing.
    package var method: String { fields[":method"] ?? "" }

    package var target: String { fields[":path"] ?? "" }

    /// Whether the target is UTF-8 after percent-decoding; decoding replaces other bytes, so that different targets
    /// would name the same thing.
    package var hasUTF8Target: Bool {
        // A target without escapes is text already.
        guard target.utf8.contains(UInt8(ascii: "%")) else { return true }
        return String(validating: [UInt8](percentEncoded: target[...].utf8, plusIsSpace: false), as: UTF8.self) != nil
    }

    /// Whether each `%` of the path begins an escape (RFC 3986 §2.1); decoding leaves others unchanged, so that
    /// different paths would name the same thing.
    package var hasValidEscapes: Bool {
        guard target.utf8.contains(UInt8(ascii: "%")) else { return true }
        let parts = path.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return parts.dropFirst().allSatisfy { $0.prefix(2).compactMap(\.hexDigitValue).count == 2 }
    }

    /// The target up to its `?`, still percent-encoded.
    package var path: String {
        let target = target
        return String(target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target[..<$0] } ?? target[...])
    }

    /// The names and values after the `?`, percent-decoded, in order; a name without `=` has an empty value.
    package var query: [(name: String, value: String)] {
        let target = target
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return target.utf8[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let texts = parts.map { String(percentEncoded: $0, plusIsSpace: true) }
            return (texts[0], texts.count > 1 ? texts[1] : "")
        }
    }
}

extension String {
    /// Creates the text that percent-encoded text stands for; malformed escapes are left unchanged, and bytes that are
    /// not UTF-8 are replaced.
    package init(percentEncoded text: Substring.UTF8View, plusIsSpace: Bool = false) {
        self.init(decoding: [UInt8](percentEncoded: text, plusIsSpace: plusIsSpace), as: UTF8.self)
    }
}

extension [UInt8] {
    /// Creates the bytes that percent-encoded text stands for.
    fileprivate init(percentEncoded text: Substring.UTF8View, plusIsSpace: Bool) {
        self = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(\.hexDigitValue)
                guard digits.count == 2 else { fallthrough }
                append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            default:
                append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; nil for another character.
    fileprivate var hexDigitValue: Int? { Character(Unicode.Scalar(self)).hexDigitValue }
}
