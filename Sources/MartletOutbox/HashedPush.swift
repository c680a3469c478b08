// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A push with the hashes that are stored with it.
///
/// The submitter of a push creates it, because hashing on the thread of a store would delay all other calls to it.
package struct HashedPush: Sendable {
    package let push: OutboxPush
    /// The first 16 bytes of a hash of the caller's request; nil for a push without an identifier of the caller.
    ///
    /// They distinguish a push that is submitted again from another push with the same identifier.
    /// `martlet.fingerprint` in PostgreSQL calculates the same for pushes without ``OutboxPush/sourceRequest`` and
    /// ``OutboxPush/user``.
    var fingerprint: [UInt8]?
    /// The value of ``OutboxPush/checksum``.
    let checksum: Int64?

    /// Calculates the hashes of a push.
    package init(_ push: OutboxPush) {
        self.push = push
        fingerprint = push.hasCallersID ? push.fingerprint : nil
        checksum = push.checksum
    }

    /// Calculates the checksum of a push as it is stored, whose fingerprint is that of the caller's request.
    init(stored push: OutboxPush, fingerprint: [UInt8]?) {
        self.push = push
        self.fingerprint = fingerprint
        checksum = push.checksum
    }
}

extension OutboxPush {
    fileprivate var fingerprint: [UInt8] {
        let (token, channel, bundle) = destination.columns
        // A phone of a user may have another token, and another environment, when the request is repeated.
        var words: [String?] = user.map { [$0] } ?? [lane.environment.rawValue, token, channel, bundle]
        if sourceRequest == nil {
            words += [
                headers.pushType, headers.topic, headers.priority, headers.expiration, headers.collapseID,
            ]
        }
        return hash(words, sourceRequest ?? payload).map { Array($0.prefix(16)) } ?? []
    }

    /// The first 8 bytes of a hash of everything that decides what is sent, to whom, and until when.
    ///
    /// It is stored with the push and compared when the push is claimed, because SQLite does not notice that a disk or
    /// a copy has changed a bit. `martlet.checksum` in PostgreSQL calculates the same. Nil if OpenSSL cannot hash.
    ///
    /// Left out are the values that change until the push ends, and those that are known only in the transaction:
    ///
    /// - The due time, `ready_at`: it is compared with `ready_check`, which every statement that sets it also sets.
    /// - The urgency: it follows from the priority and the job, and a wrong one does not change what is sent.
    /// - The job: it changes nothing that is sent, and it has another number after a move to another store. A wrong one
    ///   shows in the counts of the jobs, which ``OutboxCheck`` compares with the pushes.
    /// - The number of the installation: it changes nothing that is sent. A wrong one names another phone in the list
    ///   of the job's pushes.
    /// - The session: it changes nothing that is sent, either.
    /// - The place behind other pushes of an order key, and the numbers of attempts: they change with other pushes, and
    ///   with each attempt.
    /// - The time of acceptance, and the user of a push to a token: the transaction sets them, and they change nothing
    ///   that is sent. A changed user can only cancel the push, see ``ClaimedPush/hasFormerUser``, or hide it from the
    ///   erasure of the user. The user of a push to a user is included.
    fileprivate var checksum: Int64? {
        var words = storedWords
        if let user { words.append(user) }
        guard let digest = hash(words, id.bytes, payload) else { return nil }
        return Int64(bitPattern: digest.prefix(8).reduce(UInt64(0)) { ($0 << 8) | UInt64($1) })
    }

    /// The columns that decide to whom and until when a push is sent, and that do not change while it is stored.
    var storedWords: [String?] {
        let (token, channel, bundle) = destination.columns
        return [
            lane.app, lane.environment.rawValue, token, channel, bundle, headers.pushType, headers.topic,
            headers.priority, headers.expiration, headers.collapseID, traceParent, orderKey,
            expiresAt.map { String($0) },
        ]
    }

    /// Returns whether the content differs from a stored checksum; false if there is none.
    func differs(from stored: Int64?) -> Bool {
        guard let stored, let checksum else { return false }
        return stored != checksum
    }

    /// Returns the hash of words, each with a line break, and of the bytes after them; nil if OpenSSL cannot hash.
    ///
    /// No header contains a line break, so two different lists never have the same bytes.
    private func hash(_ words: [String?], _ parts: [UInt8]...) -> [UInt8]? {
        var bytes: [UInt8] = []
        let count = words.reduce(words.count) { $0 + ($1?.utf8.count ?? 0) }
        bytes.reserveCapacity(parts.reduce(count) { $0 + $1.count })
        for word in words {
            bytes += (word ?? "").utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        for part in parts { bytes += part }
        return try? SHA256.hash(bytes)
    }
}
