// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A writer of the pushes of a lane, which encodes their common parts once.
struct BulkWriter {
    private let client: PushClient
    private let topic: Topic
    private let options: SendOptions
    private let common: Common
    /// The last custom notification, because consecutive devices may have the same one.
    private var recent: Common?

    /// The common parts of pushes with the same notification.
    private struct Common {
        let notification: PushNotification
        let draft: Result<PushDraft, APNsError>

        init(_ notification: PushNotification, topic: Topic, options: SendOptions, client: PushClient) {
            self.notification = notification
            draft = Result { () throws(APNsError) in
                let body = try client.encode(notification, topic: topic, id: nil)
                return client.draft(of: notification, body: body, topic: topic, options: options)
            }
        }
    }

    init(_ notification: PushNotification, topic: Topic, options: SendOptions, client: PushClient) {
        self.client = client
        self.topic = topic
        self.options = options
        common = Common(notification, topic: topic, options: options, client: client)
    }

    /// Returns the push for a device; throws when its notification cannot be sent.
    mutating func push(for recipient: Recipient, ticket: BulkTicket) throws(APNsError) -> PendingPush {
        guard let notification = recipient.notification else { return try push(common, recipient.token, ticket) }
        if let recent, recent.notification == notification { return try push(recent, recipient.token, ticket) }
        let own = Common(notification, topic: topic, options: options, client: client)
        recent = own
        return try push(own, recipient.token, ticket)
    }

    private func push(_ common: Common, _ token: DeviceToken, _ ticket: BulkTicket) throws(APNsError) -> PendingPush {
        let id = common.notification.id ?? client.identifiers.next()
        switch common.draft {
        case .success(let draft):
            return PendingPush(draft, id: id, to: token, ticket: ticket)
        case .failure(var error):
            error.properties.id = id
            throw error
        }
    }
}
