internal import APNs
internal import Wire

/// Makes the pushes of one lane; what they have in common is written once.
struct BulkWriter {
    private let client: PushClient
    private let topic: Topic
    private let options: SendOptions
    private let common: Draft
    /// What was last written for a device of its own, since many devices may share it.
    private var recent: Draft?

    /// What pushes with the same notification have in common.
    private final class Draft: Sendable {
        let notification: PushNotification
        let limits: SendLimits
        let fields: RequestWriter.Template
        let body: Result<[UInt8], APNsError>

        init(_ notification: PushNotification, topic: Topic, options: SendOptions, client: PushClient) {
            self.notification = notification
            limits = client.limits(of: options, isUrgent: notification.priority ?? .immediate == .immediate)
            fields = client.requests.template(for: notification, topic: topic)
            body = Result { () throws(APNsError) in try client.encode(notification, topic: topic, id: nil) }
        }
    }

    init(_ notification: PushNotification, topic: Topic, options: SendOptions, client: PushClient) {
        self.client = client
        self.topic = topic
        self.options = options
        common = Draft(notification, topic: topic, options: options, client: client)
    }

    /// The push for a device, or what makes it not worth sending.
    mutating func push(for recipient: Recipient, ticket: BulkTicket) throws(APNsError) -> PendingPush {
        let draft = draft(for: recipient.notification)
        let id = draft.notification.id ?? client.identifiers.next()
        switch draft.body {
        case .success(let body):
            return PendingPush(
                to: recipient.token,
                id: id,
                template: draft.fields,
                body: body,
                limits: draft.limits,
                ticket: ticket
            )
        case .failure(var error):
            error.id = id
            throw error
        }
    }

    private mutating func draft(for notification: PushNotification?) -> Draft {
        guard let notification else { return common }
        if let recent, recent.notification == notification { return recent }
        let draft = Draft(notification, topic: topic, options: options, client: client)
        recent = draft
        return draft
    }
}
