// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A push with the hashes that are stored with it, which are calculated before the transaction that stores it.
struct HashedPush: Sendable {
    let push: OutboxPush
    /// The first 16 bytes of a hash of the caller's request; nil for a push without an identifier of the caller.
    ///
    /// They distinguish a push that is submitted again from another push with the same identifier.
    /// `martlet.fingerprint` in PostgreSQL calculates the same for pushes without ``OutboxPush/sourceRequest``.
    let fingerprint: [UInt8]?
    /// The value of ``OutboxPush/checksum(of:)``.
    let checksum: Int64?

    /// Calculates the hashes of a push; the payload is hashed once for both.
    init(_ push: OutboxPush) {
        self.push = push
        let content = push.contentHash
        fingerprint = push.hasCallersID ? push.fingerprint(of: content) : nil
        checksum = push.checksum(of: content)
    }
}

extension OutboxPush {
    /// The SHA-256 hash of the payload; empty if OpenSSL cannot hash.
    fileprivate var contentHash: [UInt8] { (try? SHA256.hash(payload)) ?? [] }

    fileprivate func fingerprint(of content: [UInt8]) -> [UInt8] {
        let (token, channel, bundle) = destination.columns
        var words = [lane.environment.rawValue, token, channel, bundle]
        var content = content
        if let sourceRequest {
            content = (try? SHA256.hash(sourceRequest)) ?? []
        } else {
            words += [
                headers.pushType, headers.topic, headers.priority, headers.expiration, headers.collapseID,
            ]
        }
        return (try? SHA256.hash(lines(words) + content)).map { Array($0.prefix(16)) } ?? []
    }

    /// The first 8 bytes of a hash of everything that decides what is sent, to whom, and until when.
    ///
    /// It is stored with the push and compared when the push is claimed, because SQLite does not notice that a disk or
    /// a copy has changed a bit. `martlet.checksum` in PostgreSQL calculates the same. Nil if OpenSSL cannot hash.
    ///
    /// Left out are the values that change until the push ends, and those that are known only in the transaction:
    ///
    /// - The due time, `ready_at`: it is compared with `ready_check`, which every statement that sets it also sets.
    /// - The urgency: it follows from the priority, and a wrong one does not change what is sent.
    /// - The place behind other pushes of an order key, and the numbers of attempts: they change with other pushes, and
    ///   with each attempt.
    /// - The time of acceptance and the user: the transaction sets them, and they decide nothing that is sent.
    fileprivate func checksum(of content: [UInt8]) -> Int64? {
        let (token, channel, bundle) = destination.columns
        let words: [String?] = [
            lane.app, lane.environment.rawValue, token, channel, bundle, headers.pushType, headers.topic,
            headers.priority, headers.expiration, headers.collapseID, traceParent, orderKey,
            expiresAt.map { String($0) },
        ]
        guard let hash = try? SHA256.hash(lines(words) + id.bytes + content) else { return nil }
        return Int64(bitPattern: hash.prefix(8).reduce(UInt64(0)) { ($0 << 8) | UInt64($1) })
    }

    /// Returns whether the content differs from a stored checksum; false if there is none.
    func differs(from stored: Int64?) -> Bool {
        guard let stored, let checksum = checksum(of: contentHash) else { return false }
        return stored != checksum
    }

    /// Returns the words, each with a line break.
    ///
    /// No header contains one, so two different lists never give the same bytes.
    private func lines(_ words: [String?]) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            bytes += (word ?? "").utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
