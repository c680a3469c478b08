internal import APNs

extension SurfaceSnapshot {
    /// A snapshot that may have been written by an older contract.
    public struct Migrated: Sendable, Hashable {
        /// The snapshot in today's contract.
        public let snapshot: SurfaceSnapshot
        /// What to tell whoever wrote it; nil when it was up to date.
        public let warning: String?
    }

    /// A snapshot from JSON text of any version from 1 on, held to every rule of today's contract.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - updatedAt: When a snapshot of version 1 was written that does not say so itself.
    ///   - categories: The notification categories that the app knows.
    /// - Returns: The snapshot, and a warning when it was of an older version.
    /// - Throws: ``SurfaceError`` with everything that is wrong.
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
