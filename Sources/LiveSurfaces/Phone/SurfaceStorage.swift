// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The user defaults keys under which the app stores entries for its extensions, in the defaults of their app group.
public enum SurfaceStorage {
    /// Returns the key of a surface's entry, JSON text.
    ///
    /// A surface with several kinds has an entry for each: add the kind to the identifier, as in `order-17-widget`.
    public static func entryKey(for surfaceID: String) -> String { "surface.snapshot.\(surfaceID)" }

    /// Returns the key of the time at which the entry was written, in seconds since 1970.
    public static func writtenAtKey(for surfaceID: String) -> String { entryKey(for: surfaceID) + ".writtenAt" }

    /// Returns the key of the error that decoding the entry caused.
    public static func decodeErrorKey(for surfaceID: String) -> String { entryKey(for: surfaceID) + ".decodeError" }

    /// Returns the key of the record that the service extension writes about a surface's notification, JSON text.
    public static func enrichmentKey(for surfaceID: String) -> String { "surface.enrichment.\(surfaceID)" }

    /// The key of the values for the placeholders of ``PersonalizedText``, a dictionary of strings.
    public static let personalValuesKey = "surface.personalValues"

    /// Returns the key of the surface that extensions of a kind show.
    public static func currentSurfaceKey(for kind: SurfaceKind) -> String {
        "surface.\(kind.rawValue).currentSurfaceId"
    }
}

/// The result of reading the entry of an extension.
public enum StoredEntry<Entry: SurfaceEntry>: Sendable, Hashable {
    /// No entry was written yet.
    case empty
    /// The entry was written by another version of the app; ask the user to update the app.
    case otherVersion(String)
    /// The entry cannot be decoded, for this reason.
    case unreadable(String)
    /// The entry.
    case found(Entry)

    /// Decodes an entry, after checking its version.
    ///
    /// - Parameter text: The JSON text under ``SurfaceStorage/entryKey(for:)``; nil if there is none.
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
