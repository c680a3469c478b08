internal import APNs
internal import Wire

/// What goes out for a push, save what only this one has; pushes of a notification to many devices share it.
final class PushDraft: Sendable {
    /// The fields but for the provider token, which the connection adds.
    private let template: RequestWriter.Template
    let body: [UInt8]
    let limits: SendLimits

    init(_ template: RequestWriter.Template, body: [UInt8], limits: SendLimits) {
        self.template = template
        self.body = body
        self.limits = limits
    }

    /// A request that goes to no device, or has it written already.
    convenience init(_ fields: HTTPFields, body: [UInt8], limits: SendLimits) {
        self.init(RequestWriter.Template(head: fields, tail: HTTPFields()), body: body, limits: limits)
    }

    /// The fields of one push.
    func fields(to token: DeviceToken?, id: APNsID) -> HTTPFields {
        guard let token else { return template.head }
        return template.push(to: token, id: id)
    }
}

/// How long a push may take and how often it may be tried.
struct SendLimits {
    var retry = RetryPolicy.standard
    /// Whether it has priority 10, which is also what APNs takes a missing priority for.
    var isUrgent = true
    /// Bound on everything together, from the call to the answer.
    var timeout = Duration.seconds(60)
    /// The time that it waits before it may be sent.
    var delay = Duration.zero
}
