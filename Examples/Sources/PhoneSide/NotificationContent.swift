// SPDX-License-Identifier: Apache-2.0

// The content extension: it shows what the service extension has stored, or else what the push contains.
#if os(iOS) && canImport(UserNotificationsUI)
    import Foundation
    import LiveSurfaces
    import SwiftUI
    import UIKit
    import UserNotifications
    import UserNotificationsUI

    final class NotificationContent: UIViewController, UNNotificationContentExtension {
        func didReceive(_ notification: UNNotification) {
            let content = notification.request.content
            guard let json = content.userInfo["liveSurface"],
                let bytes = try? JSONSerialization.data(withJSONObject: json),
                let sidecar = try? SurfaceSidecar(parsing: Array(bytes))
            else { return }
            let stored = appGroup?.string(forKey: SurfaceStorage.enrichmentKey(for: sidecar.surfaceId))
            let texts =
                NotificationEnrichment(stored: stored, for: sidecar)?.texts
                ?? NotificationTexts(title: content.title, subtitle: content.subtitle, body: content.body)
            show(NotificationContentView(texts: texts, picture: content.attachments.first.flatMap(picture)))
        }

        /// Reads the picture of an attachment, which is stored outside the extension's own container.
        private func picture(of attachment: UNNotificationAttachment) -> UIImage? {
            guard attachment.url.startAccessingSecurityScopedResource() else { return nil }
            defer { attachment.url.stopAccessingSecurityScopedResource() }
            return UIImage(contentsOfFile: attachment.url.path)
        }

        private func show(_ content: NotificationContentView) {
            let child = UIHostingController(rootView: content)
            addChild(child)
            child.view.frame = view.bounds
            child.view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            view.addSubview(child.view)
            child.didMove(toParent: self)
        }
    }

    struct NotificationContentView: View {
        let texts: NotificationTexts
        let picture: UIImage?

        var body: some View {
            VStack(alignment: .leading) {
                if let picture { Image(uiImage: picture).resizable().scaledToFit() }
                Text(texts.title).font(.headline)
                Text(texts.body)
            }
        }
    }
#endif
