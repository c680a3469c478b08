import FuzzDriver
import LiveSurfaces
import MartletCore

/// Looks for bytes that make the reader of snapshots crash, hang, or take what it would not write.
@main
struct FuzzSurfaces: FuzzTarget {
    static func look(at bytes: [UInt8]) {
        _ = try? NotificationCategories(parsing: bytes)
        guard let snapshot = try? SurfaceSnapshot.parse(anyVersion: bytes).snapshot else { return }
        let again = try? SurfaceSnapshot(parsing: snapshot.json.encoded())
        precondition(again == snapshot, "what was read is not what is written")
    }
}
