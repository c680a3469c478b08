// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

extension OutboxPush {
    /// The first 16 bytes of a SHA-256 hash of the push's content; nil for a push without an identifier of the caller.
    ///
    /// They distinguish a push that is submitted again from another push with the same identifier.
    /// `martlet.fingerprint` in PostgreSQL calculates the same for pushes without ``sourceRequest``.
    var fingerprint: [UInt8]? {
        guard hasCallersID else { return nil }
        let (token, channel, bundle) = destination.columns
        var words = [lane.environment.rawValue, token, channel, bundle]
        if sourceRequest == nil {
            words += [
                headers.pushType, headers.topic, headers.priority, headers.expiration, headers.collapseID,
            ]
        }
        var bytes: [UInt8] = []
        for word in words {
            bytes += (word ?? "").utf8
            // No header contains a line break, so two different lists never give the same bytes.
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += sourceRequest ?? payload
        return (try? SHA256.hash(bytes)).map { Array($0.prefix(16)) } ?? []
    }
}
