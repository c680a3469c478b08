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

    /// The path and query as sent.
    package var target: String { fields[":path"] ?? "" }

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
            return (percentDecoded(parts[0]), parts.count > 1 ? percentDecoded(parts[1]) : "")
        }
    }
}

/// Returns the text with percent escapes and `+` decoded; malformed escapes are left unchanged.
private func percentDecoded(_ text: Substring.UTF8View) -> String {
    let bytes = Array(text)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
        if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
        {
            decoded.append(high << 4 | low)
            index += 3
        } else {
            decoded.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
            index += 1
        }
    }
    return String(decoding: decoded, as: UTF8.self)
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit; nil for other characters.
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
