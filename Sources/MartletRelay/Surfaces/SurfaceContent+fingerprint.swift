// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SurfaceContent {
    /// Returns the hash by which the outbox recognizes a request that changes nothing.
    ///
    /// - Throws: ``CryptographyError`` when the content cannot be hashed.
    func fingerprint() throws(CryptographyError) -> [UInt8] {
        let snapshots = SurfaceKind.allCases.compactMap { snapshot($0)?.canonicalJSON }
        return try SHA256.hash(json.merging(["snapshots": .array(snapshots)]).encoded())
    }
}

extension SurfaceSnapshot {
    /// The snapshot as JSON with the time in microseconds since 1970, so that the same time has the same form.
    var canonicalJSON: JSONValue {
        let time = updatedAt.date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000_000).rounded()) }
        return json.merging(.members(["updatedAt": time.map { JSONValue.integer($0) }]))
    }
}
