// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

#if LoggingSupport
    internal import Logging
#endif
#if MetricsSupport
    internal import Metrics
#endif
#if TracingSupport
    internal import Tracing
#endif

/// The reports of a client to the packages whose traits are enabled; empty without them.
struct ClientTelemetry: Sendable {
    private let host: String
    #if LoggingSupport
        private let logger: Logger?
    #endif
    #if MetricsSupport
        private let metrics: ClientMetrics
    #endif
    #if TracingSupport
        private let tracer: (any Tracer)?
    #endif

    init(host: String, _ configuration: PushClient.Configuration) {
        self.host = host
        #if LoggingSupport
            logger = configuration.logger
        #endif
        #if MetricsSupport
            metrics = ClientMetrics(configuration.metricsFactory ?? MetricsSystem.factory)
        #endif
        #if TracingSupport
            tracer = configuration.tracer
        #endif
    }

    /// Reports the result of a push, or of a request about channels.
    func ended(_ push: PendingPush, _ result: Result<PushReceipt, APNsError>) {
        #if MetricsSupport
            metrics.record(result)
        #endif
        #if LoggingSupport
            logger?.log(push, result)
        #endif
    }

    /// Reports an event of the client.
    func happened(_ event: ClientEvent) {
        #if MetricsSupport
            metrics.record(event)
        #endif
        #if LoggingSupport
            logger?.log(event, host: host)
        #endif
    }

    /// Begins the span of a send within the span of the calling task.
    func span(for push: PendingPush) -> SendSpan {
        #if TracingSupport
            SendSpan(push, host: host, tracer ?? InstrumentationSystem.tracer)
        #else
            SendSpan()
        #endif
    }
}

/// The span of a send; without tracing it does nothing.
struct SendSpan {
    #if TracingSupport
        private let span: any Span

        fileprivate init(_ push: PendingPush, host: String, _ tracer: any Tracer) {
            span = tracer.startAnySpan("apns send", ofKind: .client)
            guard span.isRecording else { return }
            let fields = push.fields
            span.attributes["server.address"] = host
            span.attributes["http.request.method"] = fields[":method"]
            span.attributes["apns.id"] = push.id.description
            span.attributes["apns.topic"] = fields["apns-topic"]
            span.attributes["apns.push_type"] = fields["apns-push-type"]
            span.attributes["apns.device_token"] = push.token?.description
        }
    #endif

    func end(_ result: Result<AcceptedResponse, APNsError>) {
        #if TracingSupport
            switch result {
            case .success(let response):
                span.attributes["http.response.status_code"] = 200
                span.attributes["apns.attempts"] = response.receipt.attempts
            case .failure(let error):
                span.attributes["http.response.status_code"] = error.status
                span.attributes["apns.attempts"] = error.attempts
                span.attributes["error.type"] = error.reason?.rawValue ?? error.code.description
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error, message: error.description))
            }
            span.end()
        #endif
    }
}
