// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SurfaceSnapshot {
    /// The result of reading a snapshot whose writer may be older or newer than this module.
    public enum Received: Sendable, Hashable {
        /// A snapshot that this module reads, with what the reader should log.
        case snapshot(SurfaceSnapshot, warnings: [String])
        /// A snapshot of an unknown kind or a newer version, which the reader skips.
        case unknown(UnknownSnapshot)

        /// The messages to log; empty for a snapshot of the current version without unknown members.
        public var warnings: [String] {
            switch self {
            case .snapshot(_, let warnings): warnings
            case .unknown(let snapshot): [snapshot.warning]
            }
        }
    }

    /// Parses a snapshot as an app does, which may be older or newer than the server that wrote it.
    ///
    /// Snapshots of older versions are migrated. Members that this module does not know are ignored, and snapshots of
    /// unknown kinds and newer versions are returned as ``Received/unknown(_:)``; each with a warning. A writer checks
    /// its snapshots with ``init(parsing:categories:)`` instead, which refuses all of these.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8; at most 4 MiB, nested at most 64 levels deep.
    ///   - categories: The notification categories that the app registers.
    /// - Returns: The snapshot, or what is known of one to skip.
    /// - Throws: ``SurfaceError`` with all errors in a snapshot that breaks the rules of its version.
    public static func parse(
        received bytes: [UInt8],
        categories: NotificationCategories = .standard
    ) throws(SurfaceError) -> Received {
        let json = try value(of: bytes)
        guard let members = json.members, let version = json["schemaVersion"]?.stringValue else {
            return .snapshot(try SurfaceSnapshot(json, categories: categories), warnings: [])
        }
        if isNewer(version) { return .unknown(try UnknownSnapshot(members, version: .newer(version))) }
        guard version == schemaVersion else {
            let migrated = try parse(anyVersion: bytes, categories: categories)
            return .snapshot(migrated.snapshot, warnings: [migrated.warning].compactMap(\.self))
        }
        guard let name = json["kind"]?.stringValue, !name.isEmpty else {
            return .snapshot(try SurfaceSnapshot(json, categories: categories), warnings: [])
        }
        guard let kind = SurfaceKind(rawValue: name) else {
            return .unknown(try UnknownSnapshot(members, version: .current))
        }
        var reader = FieldReader(members, categories: categories)
        let snapshot = SurfaceSnapshot(kind, reading: &reader)
        reader.finish()
        let errors = reader.issues.filter { $0.code != .unrecognizedKeys }
        guard errors.isEmpty else { throw SurfaceError(errors) }
        return .snapshot(snapshot, warnings: reader.issues.map { "\($0.subject) \($0.message), which are ignored" })
    }

    /// Whether a version is an integer greater than the current version.
    private static func isNewer(_ version: String) -> Bool {
        guard let number = Int(version), let current = Int(schemaVersion) else { return false }
        return number > current && String(number) == version
    }
}
