// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The app's own data beside `aps` in a push made from a snapshot, under the key `liveSurface`.
public struct SurfaceSidecar: Codable, Sendable, Hashable {
    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `surface_snapshot`.
    public let kind: String
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The state of the surface's subject.
    public let state: SurfaceState
    /// The link that a tap opens.
    public let deepLink: String
    /// The notification's category.
    public let category: String?
    /// The media that the service extension attaches.
    public let attachments: [SurfaceAttachment]?
    /// The texts that the service extension fills with values of the phone.
    public let personalized: PersonalizedText?

    /// The value of `kind`.
    static let kind = "surface_snapshot"

    /// Decodes the sidecar of a push.
    ///
    /// - Parameter json: The value of `liveSurface` in the notification's user info, as JSON text in UTF-8.
    /// - Throws: ``SurfaceError`` if the text is not a sidecar of a version that this module reads.
    public init(parsing json: [UInt8]) throws(SurfaceError) {
        let value = try SurfaceSnapshot.value(of: json)
        guard value["schemaVersion"]?.stringValue == SurfaceSnapshot.schemaVersion else {
            throw SurfaceError(.invalidValue, at: ["schemaVersion"], "must be \"\(SurfaceSnapshot.schemaVersion)\"")
        }
        guard value["kind"]?.stringValue == SurfaceSidecar.kind else {
            throw SurfaceError(.invalidValue, at: ["kind"], "must be \"\(SurfaceSidecar.kind)\"")
        }
        do {
            self = try JSONDecoder().decode(SurfaceSidecar.self, from: Data(json))
        } catch {
            throw SurfaceError(.invalidType, "is not a sidecar: \(error)")
        }
    }
}
