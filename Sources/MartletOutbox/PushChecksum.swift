// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

extension OutboxPush {
    /// The first 8 bytes of a SHA-256 hash of lane, destination, headers, expiry, identifier and payload.
    ///
    /// It is stored with the push and compared when the push is claimed, because SQLite does not notice that a disk or
    /// a copy has changed a bit. `martlet.checksum` in PostgreSQL calculates the same. Nil if OpenSSL cannot hash.
    var checksum: Int64? {
        let (token, channel, bundle) = destination.columns
        let words: [String?] = [
            lane.app, lane.environment.rawValue, token, channel, bundle, headers.pushType, headers.topic,
            headers.priority, headers.expiration, headers.collapseID, traceParent, orderKey,
            expiresAt.map { String($0) },
        ]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 512)
        for word in words {
            bytes += (word ?? "").utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += id.bytes
        bytes += payload
        guard let hash = try? SHA256.hash(bytes) else { return nil }
        return Int64(bitPattern: hash.prefix(8).reduce(UInt64(0)) { ($0 << 8) | UInt64($1) })
    }

    /// Returns whether the content differs from a stored checksum; false if there is none.
    func differs(from stored: Int64?) -> Bool {
        guard let stored, let checksum else { return false }
        return stored != checksum
    }
}
