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

/// The timeouts and the retry policy of a push.
///
/// It is an object that all pushes of a draft share, so that the state of a push is small and quick to copy.
final class SendLimits: Sendable {
    let retry: RetryPolicy
    /// Whether the push has priority 10, which is also APNs' default.
    let isUrgent: Bool
    let timeout: Duration
    /// The delay before the push may be sent.
    let delay: Duration
    /// The maximum time before the push is on a connection; nil for no limit of its own.
    let startTimeout: Duration?

    init(
        retry: RetryPolicy = .standard,
        isUrgent: Bool = true,
        timeout: Duration = .seconds(60),
        delay: Duration = .zero,
        startTimeout: Duration? = nil
    ) {
        self.retry = retry
        self.isUrgent = isUrgent
        self.timeout = timeout
        self.delay = delay
        self.startTimeout = startTimeout
    }
}
