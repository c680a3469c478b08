/// The numbers of exports of spans and metrics since the start.
struct ExportCounts: Sendable {
    /// The labels of an export.
    struct Export: Hashable {
        var signal: TelemetrySignal
        var result: String
    }

    /// Exports of spans and metrics, by their result.
    private(set) var exports: [Export: Int] = [:]
    /// Spans that a collector has accepted.
    private(set) var spansExported = 0
    /// Spans that a collector has rejected in an accepted export.
    private(set) var spansRejected = 0
    /// Spans that were dropped because no collector accepted them.
    private(set) var spansLost = 0

    /// Counts an export to a collector.
    mutating func exported(
        _ signal: TelemetrySignal,
        _ answer: ExportAnswer,
        _ verdict: ExportSchedule.Verdict,
        spans: Int
    ) {
        let result: String
        switch verdict {
        case .taken:
            result = "taken"
            let rejected = signal == .traces ? min(Int(clamping: answer.rejected), spans) : 0
            spansRejected += rejected
            spansExported += spans - rejected
        case .again:
            result = "again"
        case .abandoned:
            result = "given up"
            spansLost += spans
        }
        exports[Export(signal: signal, result: result), default: 0] += 1
    }
}
