// SPDX-License-Identifier: Apache-2.0

// The service extension: it attaches files and fills in what only the phone knows, before a notification is shown.
#if os(iOS) && canImport(UserNotifications)
    import Foundation
    import LiveSurfaces
    import UserNotifications

    final class NotificationService: UNNotificationServiceExtension {
        private var task: Task<Void, Never>?

        override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent,
                let json = content.userInfo["liveSurface"],
                let bytes = try? JSONSerialization.data(withJSONObject: json),
                let sidecar = try? SurfaceSidecar(parsing: Array(bytes))
            else { return contentHandler(request.content) }
            let values = appGroup?.dictionary(forKey: SurfaceStorage.personalValuesKey) as? [String: String] ?? [:]
            let texts = NotificationTexts(title: content.title, subtitle: content.subtitle, body: content.body)
            // The system calls the extension on one thread, and the handler may be called on any.
            nonisolated(unsafe) let (unsent, deliver) = (content, contentHandler)
            task = Task {
                let enrichment = await NotificationEnricher(values: values).enrich(texts, with: sidecar, fetch: fetch)
                (unsent.title, unsent.subtitle, unsent.body) =
                    (enrichment.texts.title, enrichment.texts.subtitle, enrichment.texts.body)
                unsent.attachments = enrichment.attachments.compactMap { try? UNNotificationAttachment($0) }
                appGroup?.set(enrichment.text, forKey: SurfaceStorage.enrichmentKey(for: sidecar.surfaceId))
                deliver(unsent)
            }
        }

        /// Ends the fetching; the task then delivers what it has.
        override func serviceExtensionTimeWillExpire() { task?.cancel() }
    }

    /// Fetches a file into the temporary directory, under a name with the extension of its type.
    private func fetch(_ attachment: SurfaceAttachment) async throws -> NotificationEnricher.File {
        let file = FileManager.default.temporaryDirectory
            .appending(path: UUID().uuidString + "." + attachment.type.fileExtension)
        if let path = attachment.appGroupPath, let container = appGroupContainer {
            try FileManager.default.copyItem(at: container.appending(path: path), to: file)
        } else if let url = URL(string: attachment.url) {
            try FileManager.default.moveItem(at: try await URLSession.shared.download(from: url).0, to: file)
        }
        return try NotificationEnricher.File(path: file.path)
    }
#endif
