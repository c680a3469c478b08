#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where the app leaves what its extensions show: the keys of the defaults of their app group.
public enum SurfaceStorage {
    /// The key of a surface's entry, as JSON text.
    public static func entryKey(for surfaceID: String) -> String { "surface.snapshot.\(surfaceID)" }

    /// The key of when the entry was written, in seconds since 1970.
    public static func writtenAtKey(for surfaceID: String) -> String { entryKey(for: surfaceID) + ".writtenAt" }

    /// The key of why an entry could not be decoded.
    public static func decodeErrorKey(for surfaceID: String) -> String { entryKey(for: surfaceID) + ".decodeError" }

    /// The key of the surface that is shown by extensions of a kind.
    public static func currentSurfaceKey(for kind: SurfaceKind) -> String {
        "surface.\(kind.rawValue).currentSurfaceId"
    }
}

/// What an extension found where its entry should be.
public enum StoredEntry<Entry: SurfaceEntry>: Sendable, Hashable {
    /// Nothing was written yet.
    case empty
    /// An app of another version wrote it: ask for an update.
    case otherVersion(String)
    /// It cannot be decoded, for this reason.
    case unreadable(String)
    /// The entry.
    case found(Entry)

    /// What the app wrote, looked at by its version first.
    ///
    /// - Parameter text: The JSON text under ``SurfaceStorage/entryKey(for:)``; nil when there is none.
    public init(_ text: String?) {
        guard let text else {
            self = .empty
            return
        }
        let data = Data(text.utf8)
        let decoder = JSONDecoder()
        do {
            let version = try decoder.decode(Version.self, from: data).schemaVersion
            guard version == SurfaceSnapshot.schemaVersion else {
                self = .otherVersion(version)
                return
            }
            let entry = try decoder.decode(Entry.self, from: data)
            let isRight = entry.kind == Entry.surfaceKind
            self = isRight ? .found(entry) : .unreadable("it is for a surface of the kind \(entry.kind.rawValue)")
        } catch {
            self = .unreadable("\(error)")
        }
    }
}

private struct Version: Decodable {
    let schemaVersion: String
}
