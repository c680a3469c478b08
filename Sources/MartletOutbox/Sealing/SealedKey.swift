// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The data key of an outbox as the outbox stores it: sealed with one of the operator's keys.
package struct SealedKey: Sendable, Hashable {
    /// The identifier of the data key, which stays the same when another key seals it.
    package var id: [UInt8]
    /// The number of the operator's key.
    package var number: Int64
    /// The sealed data key.
    package var bytes: [UInt8]
    /// Whether all rows of the outbox are sealed.
    package var isComplete: Bool

    /// Creates a sealed key as it is stored.
    package init(id: [UInt8], number: Int64, bytes: [UInt8], isComplete: Bool) {
        self.id = id
        self.number = number
        self.bytes = bytes
        self.isComplete = isComplete
    }

    /// Seals a data key, for an outbox whose rows are not sealed yet.
    init(_ dataKey: [UInt8], with key: SealingKeys.Key) throws(CryptographyError) {
        id = Array(try SHA256.authenticationCode(of: Array("martlet identifier".utf8), key: dataKey).prefix(16))
        number = key.number
        bytes = try Envelope.seal(dataKey, key: key.bytes, authenticating: SealedKey.context(id, number))
        isComplete = false
    }

    /// Returns the data key.
    ///
    /// - Parameter keys: The keys of the operator.
    /// - Returns: The data key.
    /// - Throws: ``OutboxError`` that tells which key is missing or differs.
    func open(with keys: SealingKeys) throws(OutboxError) -> [UInt8] {
        guard let key = keys.key(number) else {
            throw OutboxError(
                .unavailable,
                "the outbox is sealed with the key \(number), which sealing-keys does not have (found \(keys.list)):"
                    + " add the line of that key"
            )
        }
        let context = SealedKey.context(id, number)
        guard let dataKey = try? Envelope.open(bytes, key: key.bytes, authenticating: context) else {
            throw OutboxError(
                .unavailable,
                "the outbox is sealed with another key \(number) than that of sealing-keys: use the line with which the"
                    + " outbox was sealed"
            )
        }
        return dataKey
    }

    private static func context(_ id: [UInt8], _ number: Int64) -> [UInt8] {
        Array("martlet data key\n\(number)\n".utf8) + id
    }
}

extension OutboxError {
    /// The message for a relay without keys, which would send pushes to sealed tokens.
    static func needsKey(_ number: Int64) -> String {
        "the outbox is sealed with the key \(number): set sealing-keys to the file with that key"
    }

    /// Returns the result of an encryption, whose failure is one of the outbox.
    static func mapping<Value>(_ body: () throws(CryptographyError) -> Value) throws(OutboxError) -> Value {
        do throws(CryptographyError) {
            return try body()
        } catch {
            throw OutboxError(.unavailable, "the outbox cannot be sealed: \(error)")
        }
    }
}
