// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SurfaceSnapshot {
    /// A snapshot that may have been read from an older version.
    public struct Migrated: Sendable, Hashable {
        /// The snapshot in the current version.
        public let snapshot: SurfaceSnapshot
        /// A warning for the snapshot's writer; nil if the version was current.
        public let warning: String?
    }

    /// Parses a snapshot of version 1 or later and validates it by all rules of the current contract.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - updatedAt: The time for a snapshot of version 1 that has none.
    ///   - categories: The notification categories that the app registers.
    /// - Returns: The snapshot, and a warning if it was of an older version.
    /// - Throws: ``SurfaceError`` with all errors.
    public static func parse(
        anyVersion bytes: [UInt8],
        updatedAt: SurfaceDate? = nil,
        categories: NotificationCategories = .standard
    ) throws(SurfaceError) -> Migrated {
        let json = try value(of: bytes)
        guard let version = json["schemaVersion"]?.stringValue.flatMap(LegacyVersion.init(rawValue:)),
            let members = json.members
        else { return Migrated(snapshot: try SurfaceSnapshot(json, categories: categories), warning: nil) }
        let upgraded: JSONValue
        if version == .four {
            upgraded = LegacyVersion.upgradeFromFour(members)
        } else {
            upgraded = try LegacySnapshot(members, version, updatedAt: updatedAt).upgraded
        }
        let warning =
            "the snapshot is of version \(version.rawValue) and was read as version \(schemaVersion): "
            + "have its writer updated"
        return Migrated(snapshot: try SurfaceSnapshot(upgraded, categories: categories), warning: warning)
    }
}
