import APNs
import CFuzzer
import LiveSurfaces

/// Looks for bytes that make the reader of snapshots crash, hang, or take what it would not write.
@main
struct FuzzSurfaces {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        withUnsafeMutablePointer(to: &arguments) { pointer in
            pointer.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
                _ = LLVMFuzzerRunDriver(&count, $0) { data, size in
                    FuzzSurfaces.look(at: Array(UnsafeBufferPointer(start: data, count: size)))
                    return 0
                }
            }
        }
    }

    private static func look(at bytes: [UInt8]) {
        _ = try? NotificationCategories(parsing: bytes)
        guard let snapshot = try? SurfaceSnapshot.parse(anyVersion: bytes).snapshot else { return }
        let again = try? SurfaceSnapshot(parsing: snapshot.json.encoded())
        precondition(again == snapshot, "what was read is not what is written")
    }
}
