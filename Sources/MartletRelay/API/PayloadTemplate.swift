// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A payload, or a text of one, with placeholders such as `{{name}}`.
///
/// Two braces follow each other only in the texts of an encoded payload, so it need not be parsed.
struct PayloadTemplate {
    /// The maximum number of bytes of a name.
    private static let nameByteLimit = 64
    /// The rule for a placeholder, as in "must be …".
    static let rule = "{{, a name of 1 to \(nameByteLimit) ASCII letters, digits, - or _, and }}"

    /// The bytes before each placeholder, and its name.
    private var parts: [(bytes: ArraySlice<UInt8>, name: String)] = []
    /// The bytes after the last placeholder.
    private let end: ArraySlice<UInt8>
    /// The number of placeholders with each name.
    private(set) var counts: [String: Int] = [:]
    /// Whether all pairs of opening braces begin a placeholder.
    private(set) var isWellFormed = true

    init(_ bytes: [UInt8]) {
        let open = UInt8(ascii: "{")
        var (start, index) = (0, 0)
        while index + 1 < bytes.count {
            guard bytes[index] == open, bytes[index + 1] == open else {
                index += 1
                continue
            }
            let name = bytes[(index + 2)...].prefix { $0.isDigit || $0.isLetter || "-_".utf8.contains($0) }
            guard (1...Self.nameByteLimit).contains(name.count), bytes[name.endIndex...].starts(with: "}}".utf8) else {
                isWellFormed = false
                index += 2
                continue
            }
            let text = String(decoding: name, as: UTF8.self)
            parts.append((bytes[start..<index], text))
            counts[text, default: 0] += 1
            index = name.endIndex + 2
            start = index
        }
        end = bytes[start...]
    }

    /// Returns the bytes with texts, as they are inside of strings in JSON, in place of the placeholders.
    func filled(with texts: [String: [UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount(with: texts))
        for part in parts {
            bytes += part.bytes
            bytes += texts[part.name] ?? []
        }
        return bytes + end
    }

    /// Returns the number of bytes with texts in place of the placeholders.
    func byteCount(with texts: [String: [UInt8]]) -> Int {
        let fixed = parts.reduce(end.count) { $0 + $1.bytes.count }
        return counts.reduce(fixed) { $0 + $1.value * (texts[$1.key]?.count ?? 0) }
    }
}
