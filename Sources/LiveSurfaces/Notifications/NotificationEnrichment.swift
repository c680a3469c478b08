// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The texts of a notification, as the system shows them.
public struct NotificationTexts: Codable, Sendable, Hashable {
    /// The first line.
    public var title: String
    /// The line below the title; empty for none.
    public var subtitle: String
    /// The text.
    public var body: String

    /// Creates texts.
    public init(title: String, subtitle: String = "", body: String) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }
}

/// The result of a service extension: the texts and attachments of a notification, and the parts that failed.
///
/// The service extension stores the record in the app group under ``SurfaceStorage/enrichmentKey(for:)``, and the
/// content extension reads it from there.
public struct NotificationEnrichment: Codable, Sendable, Hashable {
    /// A file that is attached.
    public struct Attachment: Codable, Sendable, Hashable {
        /// The attachment as the push describes it.
        public let attachment: SurfaceAttachment
        /// The path of the file.
        public let path: String
    }

    /// Something that the service extension left out, with the reason.
    public struct Problem: Codable, Sendable, Hashable, CustomStringConvertible {
        /// The identifier of the attachment, or the name of the text: `title`, `subtitle` or `body`.
        public let part: String
        /// The reason, a phrase.
        public let reason: String

        /// The part and the reason.
        public var description: String { "\(part): \(reason)" }
    }

    /// The version of the contract.
    public let schemaVersion: String
    /// The identifier of the snapshot.
    public let snapshotId: String
    /// The identifier of the surface.
    public let surfaceId: String
    /// The texts to show.
    public let texts: NotificationTexts
    /// The files to attach, in the order of the push.
    public let attachments: [Attachment]
    /// The parts that were left out; empty if everything succeeded.
    public let problems: [Problem]

    /// The record as JSON text for the app group.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads the record of a notification; nil if there is none for its snapshot, so that it is shown as it was sent.
    ///
    /// - Parameters:
    ///   - text: The text under ``SurfaceStorage/enrichmentKey(for:)``; nil if there is none.
    ///   - sidecar: The sidecar of the notification that is shown.
    public init?(stored text: String?, for sidecar: SurfaceSidecar) {
        guard let text, let record = try? JSONDecoder().decode(NotificationEnrichment.self, from: Data(text.utf8)),
            record.schemaVersion == sidecar.schemaVersion, record.snapshotId == sidecar.snapshotId
        else { return nil }
        self = record
    }

    init(
        of sidecar: SurfaceSidecar,
        texts: NotificationTexts,
        attachments: [Attachment],
        problems: [Problem]
    ) {
        schemaVersion = sidecar.schemaVersion
        snapshotId = sidecar.snapshotId
        surfaceId = sidecar.surfaceId
        self.texts = texts
        self.attachments = attachments
        self.problems = problems
    }
}
