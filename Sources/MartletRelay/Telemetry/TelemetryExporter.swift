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
    private weak var relay: PushRelay?
    private var workers: [Task<Void, Never>] = []
    private var generator: SplitMix64
    /// The spans that the collector has not accepted yet.
    private var spans: [Span] = []

    /// Creates an exporter that is idle until ``start()``.
    ///
    /// - Parameters:
    ///   - settings: The settings of the collector.
    ///   - relay: The relay whose spans and metrics are exported.
    ///   - generator: The source of randomness.
    /// - Throws: ``RelayError`` when TLS cannot be set up with the settings.
    init(
        _ settings: TelemetrySettings,
        for relay: PushRelay,
        using generator: inout SplitMix64
    ) throws(RelayError) {
        self.settings = settings
        self.relay = relay
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
        self.generator = SplitMix64(state: generator.next())
        do throws(WireError) {
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
            spans += await relay?.takeSpans(PushTracer.limit) ?? []
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
            if spans.isEmpty { spans = await relay?.takeSpans(TelemetryExporter.batch) ?? [] }
            guard !spans.isEmpty, let relay else {
                await rest(TelemetryExporter.pause)
                continue
            }
            let count = spans.count
            let answer = await post(.traces, OTLP.traces(spans, of: resource), to: destination)
            let verdict = schedule.verdict(on: answer, at: relay.now, using: &generator)
            await relay.noteExport(.traces, answer, verdict, spans: count)
            switch verdict {
            case .taken:
                spans = []
                if count < TelemetryExporter.batch { await rest(TelemetryExporter.pause) }
            case .again(let pause):
                await rest(pause)
            case .givenUp(let pause):
                spans = []
                await rest(pause)
            }
        }
    }

    /// Exports metrics at intervals; counts that could not be exported are included in the next export.
    private func exportNumbers(to destination: TelemetrySettings.Destination) async {
        var schedule = ExportSchedule()
        await rest(settings.metricInterval)
        while !Task.isCancelled, let relay, let numbers = await numbers() {
            let answer = await post(.metrics, numbers, to: destination)
            let verdict = schedule.verdict(on: answer, at: relay.now, using: &generator)
            await relay.noteExport(.metrics, answer, verdict, spans: 0)
            switch verdict {
            case .taken: await rest(settings.metricInterval)
            case .again(let pause): await rest(pause)
            case .givenUp(let pause): await rest(max(pause, settings.metricInterval))
            }
        }
    }

    private func numbers() async -> JSONValue? {
        guard let relay else { return nil }
        let sheet = await relay.metrics(of: relay.apps)
        return OTLP.metrics(
            sheet,
            of: resource,
            since: relay.startedAt * 1_000,
            at: relay.clock.microsecondsSince1970()
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
        do throws(WireError) {
            let response = try await call.send(
                "POST",
                address.path,
                fields: fields,
                body: body.encoded(),
                within: min(limit ?? settings.timeout, settings.timeout),
                on: loop
            )
            return ExportAnswer(response, at: relay?.now ?? 0)
        } catch {
            return ExportAnswer(error)
        }
    }

    private func rest(_ milliseconds: Int64) async {
        try? await Task.sleep(for: .milliseconds(milliseconds))
    }
}

/// The relay's interface for the exporter.
extension PushRelay {
    /// Removes and returns spans that have not been exported.
    func takeSpans(_ limit: Int) -> [Span] { tracer?.take(limit) ?? [] }

    /// Counts an export and logs a failure.
    func noteExport(
        _ signal: TelemetrySignal,
        _ answer: ExportAnswer,
        _ verdict: ExportSchedule.Verdict,
        spans: Int
    ) {
        counts.exported(signal, answer, verdict, spans: spans)
        guard verdict != .taken || answer.rejected > 0, let heldBack = exportTroubles.take(at: now) else { return }
        log.warning(
            verdict == .taken ? "the collector has left something out" : "telemetry cannot be exported",
            [
                "signal": .string(signal.rawValue), "status": .whole(answer.status),
                "rejected": answer.rejected > 0 ? .whole(answer.rejected) : nil,
                "error": answer.words.isEmpty ? nil : .string(answer.words),
                "not-logged": heldBack > 0 ? .whole(heldBack) : nil,
            ]
        )
    }

    /// Adds the metrics of the exporter; none without one.
    func addTelemetry(to sheet: inout MetricSheet) {
        guard let tracer else { return }
        sheet.family("martlet_relay_telemetry_exports_total", .counter, "Exports to the collector, by how they ended.")
        for (export, count) in counts.exports {
            sheet.add(["signal": export.signal.rawValue, "result": export.result], count)
        }
        sheet.family("martlet_relay_telemetry_spans_total", .counter, "Spans, by what became of them.")
        for (result, count) in [
            ("exported", counts.spansExported), ("rejected", counts.spansRejected), ("lost", counts.spansLost),
            ("dropped", tracer.dropped),
        ] { sheet.add(["result": result], count) }
    }
}
