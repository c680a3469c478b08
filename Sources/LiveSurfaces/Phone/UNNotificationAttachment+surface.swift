// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
    internal import MartletCore
    public import UserNotifications

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension UNNotificationAttachment {
        /// Creates an attachment from a file that the service extension has fetched, with its type and thumbnail.
        ///
        /// - Parameter enriched: The file.
        /// - Throws: The system's error if it cannot use the file.
        public convenience init(_ enriched: NotificationEnrichment.Attachment) throws {
            let attachment = enriched.attachment
            var options: [String: Any] = [UNNotificationAttachmentOptionsTypeHintKey: attachment.type.rawValue]
            if let isHidden = attachment.thumbnail?.isHidden {
                options[UNNotificationAttachmentOptionsThumbnailHiddenKey] = isHidden
            }
            if let clip = attachment.thumbnail?.clip {
                // The keys of CGRect.dictionaryRepresentation.
                options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] = [
                    "X": clip.x, "Y": clip.y, "Width": clip.width, "Height": clip.height,
                ]
            }
            if let time = attachment.thumbnail?.time { options[UNNotificationAttachmentOptionsThumbnailTimeKey] = time }
            try self.init(identifier: attachment.id, url: URL(filePath: enriched.path), options: options)
        }
    }

    extension NotificationEnricher.File {
        /// Reads the size and the first bytes of a file.
        ///
        /// - Parameter path: The path of the file.
        /// - Throws: The system's error if the file cannot be read.
        public init(path: String) throws {
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? handle.close() }
            let start = try handle.read(upToCount: 12) ?? Data()
            self.init(path: path, byteCount: Int(try handle.seekToEnd()), start: Array(start))
        }
    }
#endif
