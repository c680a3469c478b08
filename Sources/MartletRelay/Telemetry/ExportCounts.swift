// SPDX-License-Identifier: Apache-2.0

/// The numbers of exports of spans since the start.
struct ExportCounts: Sendable {
    /// Exports of spans, by their result.
    private(set) var exports: [String: Int] = [:]
    private(set) var spansExported = 0
    private(set) var spansRejected = 0
    /// Spans that were dropped because no collector accepted them.
    private(set) var spansLost = 0

    mutating func exported(_ answer: ExportAnswer, _ decision: ExportSchedule.Decision, spans: Int) {
        let result: String
        switch decision {
        case .accepted:
            result = "accepted"
            let rejected = min(Int(clamping: answer.rejected), spans)
            spansRejected += rejected
            spansExported += spans - rejected
        case .retry:
            result = "retried"
        case .abandoned:
            result = "abandoned"
            spansLost += spans
        }
        exports[result, default: 0] += 1
    }
}
