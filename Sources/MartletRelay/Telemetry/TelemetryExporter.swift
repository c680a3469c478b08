internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The signals that are exported.
enum TelemetrySignal: String, Sendable, Hashable {
    case traces
    case metrics
}

/// An exporter of spans and metrics to an OpenTelemetry collector, on a thread of its own, so that no push waits for
/// it.
actor TelemetryExporter {
    /// The maximum number of spans in one request.
    private static let batch = 512
    /// The time to wait for further spans, in milliseconds.
    private static let pause: Int64 = 1_000

    private nonisolated let loop: EventLoop
    /// The executor of the actor, required by `Actor`.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let settings: TelemetrySettings
    private let tls: TLSContext?
    private let resource: JSONValue
    private weak var monitor: RelayMonitor?
    private let context: RelayContext
    private var workers: [Task<Void, Never>] = []
    private var generator: SplitMix64
    /// The spans that the collector has not accepted yet.
    private var spans: [Span] = []

    /// Creates an exporter that is idle until ``start()``.
    ///
    /// - Parameters:
    ///   - settings: The settings of the collector.
    ///   - context: The clock, and the spans to export.
    ///   - monitor: The monitor, whose metrics are exported.
    /// - Throws: ``RelayError`` when TLS cannot be set up with the settings.
    init(
        _ settings: TelemetrySettings,
        _ context: RelayContext,
        for monitor: RelayMonitor
    ) throws(RelayError) {
        self.settings = settings
        self.context = context
        self.monitor = monitor
        var generator = SplitMix64(state: .random(in: .min ... .max))
        // Counters since the start belong to one process, so each has its own instance identifier.
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
        do throws(TransportError) {
            let destinations = [settings.traces, settings.metrics].compactMap(\.self)
            let isEncrypted = destinations.contains { $0.address.isEncrypted }
            tls = isEncrypted ? try .http1Client(authorities: settings.authorities) : nil
            loop = try EventLoop()
        } catch {
            throw RelayError("telemetry: \(error)")
        }
    }

    deinit {
        loop.shutdown()
    }

    /// Starts exporting.
    func start() {
        if let traces = settings.traces { workers.append(Task { await exportSpans(to: traces) }) }
        if let metrics = settings.metrics { workers.append(Task { await exportNumbers(to: metrics) }) }
    }

    /// Exports the remaining spans and metrics once and stops.
    ///
    /// Spans that are being sent at this moment may be sent twice.
    func close(within limit: Duration) async {
        for worker in workers { worker.cancel() }
        if let traces = settings.traces {
            spans += context.spans?.take(PushTracer.limit) ?? []
            if !spans.isEmpty {
                _ = await post(.traces, OTLP.traces(spans, of: resource), to: traces, within: limit / 2)
            }
        }
        if let metrics = settings.metrics, let numbers = await numbers() {
            _ = await post(.metrics, numbers, to: metrics, within: limit / 2)
        }
    }

    private func exportSpans(to destination: TelemetrySettings.Destination) async {
        var schedule = ExportSchedule()
        while !Task.isCancelled {
            if spans.isEmpty { spans = context.spans?.take(TelemetryExporter.batch) ?? [] }
            guard !spans.isEmpty, let monitor else {
                await rest(TelemetryExporter.pause)
                continue
            }
            let count = spans.count
            let answer = await post(.traces, OTLP.traces(spans, of: resource), to: destination)
            let verdict = schedule.verdict(on: answer, at: context.now, using: &generator)
            await monitor.noteExport(.traces, answer, verdict, spans: count)
            switch verdict {
            case .taken:
                spans = []
                if count < TelemetryExporter.batch { await rest(TelemetryExporter.pause) }
            case .again(let pause):
                await rest(pause)
            case .abandoned(let pause):
                spans = []
                await rest(pause)
            }
        }
    }

    /// Exports metrics at intervals; counts that could not be exported are included in the next export.
    private func exportNumbers(to destination: TelemetrySettings.Destination) async {
        var schedule = ExportSchedule()
        await rest(settings.metricInterval)
        while !Task.isCancelled, let monitor, let numbers = await numbers() {
            let answer = await post(.metrics, numbers, to: destination)
            let verdict = schedule.verdict(on: answer, at: context.now, using: &generator)
            await monitor.noteExport(.metrics, answer, verdict, spans: 0)
            switch verdict {
            case .taken: await rest(settings.metricInterval)
            case .again(let pause): await rest(pause)
            case .abandoned(let pause): await rest(max(pause, settings.metricInterval))
            }
        }
    }

    private func numbers() async -> JSONValue? {
        guard let monitor else { return nil }
        let sheet = await monitor.metrics(of: monitor.apps)
        return OTLP.metrics(
            sheet,
            of: resource,
            since: context.startedAt * 1_000,
            at: context.clock.microsecondsSince1970()
        )
    }

    private func post(
        _ signal: TelemetrySignal,
        _ body: JSONValue,
        to destination: TelemetrySettings.Destination,
        within limit: Duration? = nil
    ) async -> ExportAnswer {
        let address = destination.address
        let call = HTTP1Call(host: address.host, port: address.port, tls: address.isEncrypted ? tls : nil)
        var fields: HTTPFields = [
            "content-type": "application/json", "user-agent": "martlet/\(MartletVersion.current)",
        ]
        fields.append(contentsOf: destination.fields)
        do throws(TransportError) {
            let response = try await call.send(
                "POST",
                address.path,
                fields: fields,
                body: body.encoded(),
                within: min(limit ?? settings.timeout, settings.timeout),
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
