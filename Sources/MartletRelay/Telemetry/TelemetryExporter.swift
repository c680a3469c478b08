// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// An exporter of spans to an OpenTelemetry collector, on a thread of its own, so that no push waits for it.
actor TelemetryExporter {
    /// The maximum number of spans in one request.
    private static let batch = 512
    /// The time to wait for further spans, in milliseconds.
    private static let pause: Int64 = 1_000

    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let settings: TelemetrySettings
    private let tls: TLSContext?
    private let proxy: HTTPProxy?
    private let resource: JSONValue
    private weak var monitor: RelayMonitor?
    private let context: RelayContext
    private var worker: Task<Void, Never>?
    private var generator: SplitMix64
    /// The spans that the collector has not accepted yet.
    private var spans: [Span] = []

    /// Creates an exporter that is idle until ``start()``; the monitor counts the exports.
    ///
    /// - Throws: ``RelayError`` when TLS cannot be set up with the settings, or the proxy is invalid.
    init(
        _ settings: TelemetrySettings,
        _ context: RelayContext,
        for monitor: RelayMonitor
    ) throws(RelayError) {
        self.settings = settings
        self.context = context
        self.monitor = monitor
        var generator = SplitMix64(state: .random(in: .min ... .max))
        let instance = APNsID(randomBits: (generator.next(), generator.next()))
        resource = OTLP.resource(
            settings.attributes + [
                Attribute("service.version", MartletVersion.current),
                Attribute("service.instance.id", instance.description),
                Attribute("telemetry.sdk.name", "martlet"), Attribute("telemetry.sdk.language", "swift"),
                Attribute("telemetry.sdk.version", MartletVersion.current),
            ]
        )
        self.generator = generator
        proxy = try context.configuration.proxies.proxy(for: settings.address)
        do throws(TransportError) {
            tls = settings.address.isEncrypted ? try .http1Client(authorities: settings.authorities) : nil
            loop = try EventLoop()
        } catch {
            throw RelayError("telemetry: \(error)")
        }
    }

    deinit {
        loop.shutdown()
    }

    func start() {
        worker = Task { await exportSpans() }
    }

    /// Exports the remaining spans once and stops.
    ///
    /// Spans that are being sent at this moment may be sent twice.
    func close(within limit: Duration) async {
        worker?.cancel()
        spans += context.spans?.record { tracer, _ in tracer.take(PushTracer.limit) } ?? []
        if !spans.isEmpty { _ = await post(spans, within: min(limit, settings.timeout)) }
    }

    private func exportSpans() async {
        var schedule = ExportSchedule()
        while !Task.isCancelled {
            if spans.isEmpty {
                spans = context.spans?.record { tracer, _ in tracer.take(TelemetryExporter.batch) } ?? []
            }
            guard !spans.isEmpty, let monitor else {
                await rest(TelemetryExporter.pause)
                continue
            }
            let count = spans.count
            let answer = await post(spans, within: settings.timeout)
            let decision = schedule.decision(on: answer, at: context.now, using: &generator)
            await monitor.recordExport(answer, decision, spans: count)
            switch decision {
            case .accepted:
                spans = []
                if count < TelemetryExporter.batch { await rest(TelemetryExporter.pause) }
            case .retry(let pause):
                await rest(pause)
            case .abandoned(let pause):
                spans = []
                await rest(pause)
            }
        }
    }

    private func post(_ spans: [Span], within limit: Duration) async -> ExportAnswer {
        let address = settings.address
        var call = HTTP1Call(host: address.host, port: address.port, tls: address.isEncrypted ? tls : nil)
        call.proxy = proxy
        var fields: HTTPFields = [
            "content-type": "application/json", "user-agent": "martlet/\(MartletVersion.current)",
        ]
        fields.append(contentsOf: settings.fields)
        do throws(TransportError) {
            let response = try await call.send(
                "POST",
                address.path,
                fields: fields,
                body: OTLP.traces(spans, of: resource).encoded(),
                within: limit,
                on: loop
            )
            return ExportAnswer(response, at: context.now)
        } catch {
            return ExportAnswer(error)
        }
    }

    private func rest(_ milliseconds: Int64) async {
        try? await Task.sleep(for: .milliseconds(milliseconds))
    }
}
