// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let attachmentWithoutMutableContent = PushLint.Rule(
        "attachment-without-mutable-content",
        .warning,
        .serviceExtension
    )
    .when("liveSurface has attachments or personalized texts, and aps has no mutable-content 1")
    static let attachmentUnusable = PushLint.Rule("attachment-unusable", .warning, .attachment)
        .when("an attachment in liveSurface has a type, a size or a URL that the phone cannot use")
}

/// The rules about what a service extension adds to a notification ("UNNotificationAttachment").
enum AttachmentRules {
    static let all: [PushLint.Rule] = [.attachmentWithoutMutableContent, .attachmentUnusable]

    /// The maximum number of findings about attachments.
    private static let findingLimit = 5

    static func check(_ payload: JSONValue, _ aps: JSONValue) -> [PushLint.Finding] {
        guard let sidecar = payload["liveSurface"] else { return [] }
        let attachments = sidecar["attachments"]?.elements ?? []
        guard !attachments.isEmpty || sidecar["personalized"] != nil else { return [] }
        let message = "without mutable-content the phone does not run the service extension, and shows only the alert"
        let missing = PushLint.Finding(.attachmentWithoutMutableContent, .payload("/aps"), message)
        return (aps["mutable-content"] == nil ? [missing] : []) + unusable(attachments).prefix(findingLimit)
    }

    private static func unusable(_ attachments: [JSONValue]) -> [PushLint.Finding] {
        attachments.enumerated().compactMap { index, attachment in
            guard let (member, reason) = flaw(of: attachment) else { return nil }
            let path = ["liveSurface", "attachments", String(index), member]
            return PushLint.Finding(
                .attachmentUnusable,
                .payload(JSONPointer.path(path)),
                "\(reason): the phone shows the notification without the attachment"
            )
        }
    }

    /// Returns the member of an attachment that the phone cannot use, with the reason.
    private static func flaw(of attachment: JSONValue) -> (member: String, reason: String)? {
        let type = NotificationAttachmentType(rawValue: attachment["type"]?.stringValue ?? "")
        guard let kind = type.kind else { return ("type", "the system supports no attachment of this type") }
        let maximum = kind.maximumByteCount
        if let size = attachment["byteCount"]?.wholeValue, size > maximum {
            return ("byteCount", "an attachment of the kind \(kind.rawValue) has at most \(maximum) bytes")
        }
        guard let url = attachment["url"]?.stringValue, url.hasPrefix("https://") || url.hasPrefix("appgroup:///")
        else {
            return ("url", "the URL of an attachment must begin with https:// or appgroup:///")
        }
        return nil
    }
}
