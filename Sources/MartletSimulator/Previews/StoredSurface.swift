// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The data that an app has stored for one of its surfaces, or that a server would have it store.
struct StoredSurface: Sendable, Hashable {
    let kind: SurfaceKind
    /// The data for each part of the surface, by the names of ``LiveSurfaces/SurfaceSnapshot/projections``.
    let projections: [JSONValue.Member]

    /// Creates a surface from a snapshot, or from an entry as an app writes it to its app group.
    ///
    /// - Throws: ``SimulatorError`` with everything that is wrong.
    init(_ bytes: [UInt8], kind: SurfaceKind) throws(SimulatorError) {
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
            throw SimulatorError("an app stores no entries for \(kind.rawValue): send the snapshot")
        }
        projections = [.init("entry", entry)]
    }

    /// Returns the surface as the HTTP interface shows it.
    func json(topic: String) -> JSONValue {
        ["topic": .string(topic), "kind": .string(kind.rawValue), "projections": .object(projections)]
    }

    private static func snapshot(_ bytes: [UInt8], _ kind: SurfaceKind) throws(SimulatorError) -> SurfaceSnapshot {
        let snapshot: SurfaceSnapshot
        do throws(SurfaceError) {
            snapshot = try SurfaceSnapshot(parsing: bytes)
        } catch {
            throw SimulatorError("\(error)")
        }
        guard snapshot.kind == kind else {
            throw SimulatorError("\(WrongSurfaceKind(wanted: kind, found: snapshot.kind))")
        }
        return snapshot
    }

    private static func entry<Entry: SurfaceEntry>(
        _ type: Entry.Type,
        _ text: String
    ) throws(SimulatorError) -> JSONValue {
        switch StoredEntry<Entry>(text) {
        case .found(let entry): return entry.json
        case .empty: throw SimulatorError("the entry is empty")
        case .otherVersion(let version):
            throw SimulatorError("the entry is of version \(version), not \(SurfaceSnapshot.schemaVersion)")
        case .unreadable(let reason): throw SimulatorError("the extension cannot decode the entry: \(reason)")
        }
    }
}
