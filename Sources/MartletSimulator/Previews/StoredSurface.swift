internal import LiveSurfaces
internal import MartletCore

/// The data that an app has stored for one of its surfaces, or that a server would have it store.
struct StoredSurface: Sendable, Hashable {
    let kind: SurfaceKind
    /// The data for each part of the surface, by the names of ``LiveSurfaces/SurfaceSnapshot/projections``.
    let projections: [JSONValue.Member]

    /// Creates a surface from a snapshot, or from an entry as an app writes it to its app group.
    ///
    /// - Parameters:
    ///   - bytes: The snapshot or entry, JSON.
    ///   - kind: The kind that it must be of.
    /// - Throws: ``StoredSurfaceError`` with everything that is wrong.
    init(_ bytes: [UInt8], kind: SurfaceKind) throws(StoredSurfaceError) {
        self.kind = kind
        guard let json = try? JSONReader.read(bytes), json["snapshotId"] != nil else {
            projections = try StoredSurface.snapshot(bytes, kind).projections
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let entry: JSONValue
        switch kind {
        case .widget: entry = try StoredSurface.entry(WidgetEntry.self, text)
        case .control: entry = try StoredSurface.entry(ControlEntry.self, text)
        case .lockAccessory: entry = try StoredSurface.entry(LockAccessoryEntry.self, text)
        case .standBy: entry = try StoredSurface.entry(StandByEntry.self, text)
        case .liveActivity, .notification:
            throw StoredSurfaceError("an app stores no entries for \(kind.rawValue): send the snapshot")
        }
        projections = [.init("entry", entry)]
    }

    /// Returns the surface as the HTTP interface shows it.
    func json(topic: String) -> JSONValue {
        ["topic": .string(topic), "kind": .string(kind.rawValue), "projections": .object(projections)]
    }

    private static func snapshot(_ bytes: [UInt8], _ kind: SurfaceKind) throws(StoredSurfaceError) -> SurfaceSnapshot {
        let snapshot: SurfaceSnapshot
        do throws(SurfaceError) {
            snapshot = try SurfaceSnapshot(parsing: bytes)
        } catch {
            throw StoredSurfaceError("\(error)")
        }
        guard snapshot.kind == kind else {
            throw StoredSurfaceError("\(WrongSurfaceKind(wanted: kind, found: snapshot.kind))")
        }
        return snapshot
    }

    private static func entry<Entry: SurfaceEntry>(
        _ type: Entry.Type,
        _ text: String
    ) throws(StoredSurfaceError) -> JSONValue {
        switch StoredEntry<Entry>(text) {
        case .found(let entry): return entry.json
        case .empty: throw StoredSurfaceError("the entry is empty")
        case .otherVersion(let version):
            throw StoredSurfaceError("the entry is of version \(version), not \(SurfaceSnapshot.schemaVersion)")
        case .unreadable(let reason): throw StoredSurfaceError("the extension cannot decode the entry: \(reason)")
        }
    }
}

/// The reason that a surface cannot be shown.
struct StoredSurfaceError: Error, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
