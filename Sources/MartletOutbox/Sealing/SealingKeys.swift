// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The keys of an operator that seal the data key of an outbox: the first seals it, and each of them opens it.
///
/// They are kept outside of the outbox, so that a copy of the outbox alone opens nothing.
package struct SealingKeys: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The rule for a line of the file, as the end of a message.
    private static let rule = """
        must be a number and 32 random bytes in base64: create a line with \
        `echo "1 $(openssl rand -base64 32)"`, with a number that no other line has
        """

    /// A key with the number by which an outbox names it.
    struct Key: Sendable, Hashable {
        var number: Int64
        var bytes: [UInt8]
    }

    /// The key that seals.
    let first: Key
    private let others: [Key]

    /// The numbers of the keys, and no key, because texts appear in logs.
    package var description: String { "SealingKeys(\(list))" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The numbers of the keys, for messages.
    var list: String { ([first] + others).map { "\($0.number)" }.joined(separator: ", ") }

    /// Reads the text of a key file.
    ///
    /// Each line has a number and a key in base64. Empty lines are ignored.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``SealingKeysError`` with the number of the line; it contains nothing of the line.
    package init(_ text: String) throws(SealingKeysError) {
        var keys: [Key] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard !words.isEmpty else { continue }
            guard words.count == 2, let number = Int64(words[0]), number > 0,
                let bytes = Data(base64Encoded: String(words[1])), bytes.count == AES256GCM.keyByteCount
            else { throw SealingKeysError("line \(index + 1) \(SealingKeys.rule)") }
            let key = Key(number: number, bytes: Array(bytes))
            guard keys.allSatisfy({ $0.number != key.number && $0.bytes != key.bytes }) else {
                throw SealingKeysError("line \(index + 1) has the number or the key of another line")
            }
            keys.append(key)
        }
        guard let first = keys.first else { throw SealingKeysError("it has no key; each line \(SealingKeys.rule)") }
        self.first = first
        others = Array(keys.dropFirst())
    }

    /// Returns the key with a number; nil for one that is missing.
    func key(_ number: Int64) -> Key? { first.number == number ? first : others.first { $0.number == number } }
}

/// An error for a key file, as the end of a message that names the setting.
package struct SealingKeysError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
