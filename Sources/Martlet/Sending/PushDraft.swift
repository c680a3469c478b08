// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The common content of a notification's pushes to many devices, without the parts of a single push.
final class PushDraft: Sendable {
    /// The fields except for the provider token, which the connection adds.
    private let template: RequestWriter.Template
    let body: [UInt8]
    let limits: SendLimits

    init(_ template: RequestWriter.Template, body: [UInt8], limits: SendLimits) {
        self.template = template
        self.body = body
        self.limits = limits
    }

    /// Creates a draft of a request without a device, or whose fields already contain the device.
    convenience init(_ fields: HTTPFields, body: [UInt8], limits: SendLimits) {
        self.init(RequestWriter.Template(head: fields, tail: HTTPFields()), body: body, limits: limits)
    }

    func fields(to token: DeviceToken?, id: APNsID) -> HTTPFields {
        guard let token else { return template.head }
        return template.push(to: token, id: id)
    }
}

/// The timeout and the retry policy of a push.
struct SendLimits {
    var retry = RetryPolicy.standard
    /// Whether the push has priority 10, which is also APNs' default.
    var isUrgent = true
    var timeout = Duration.seconds(60)
    /// The delay before the push may be sent.
    var delay = Duration.zero
}
