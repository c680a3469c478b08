// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The answer of a collector to an export.
struct ExportAnswer: Sendable, Equatable {
    /// The longest wait that is taken from an answer; an export is dropped long before.
    private static let longestWaitInSeconds: Int64 = 86_400

    /// The HTTP status; nil without an answer.
    var status: Int?
    /// The time until the next export that the collector asks for, in milliseconds; nil when it asks for none.
    var retryAfter: Int64?
    /// The number of spans that it rejected in an accepted export.
    var rejected: Int64 = 0
    /// The error message of the collector, or of the connection.
    var message = ""

    init(_ response: HTTPResponse, at milliseconds: Int64) {
        status = response.status
        if let text = response.fields["retry-after"] {
            let seconds = Int64(text) ?? HTTPDate.seconds(text).map { $0 - milliseconds / 1_000 }
            retryAfter = seconds.map { min(max(0, $0), ExportAnswer.longestWaitInSeconds) * 1_000 }
        }
        guard response.status == 200 else { return }
        let partial = (try? JSONReader.read(response.body))?["partialSuccess"]
        let count = partial?["rejectedSpans"]
        rejected = count?.integerValue ?? count?.stringValue.flatMap { Int64($0) } ?? 0
        message = partial?["errorMessage"]?.stringValue ?? ""
    }

    init(_ error: TransportError) {
        message = "\(error)"
    }
}

/// Decides whether and when an export is repeated, in milliseconds.
///
/// Source: "OTLP/HTTP Response" of https://opentelemetry.io/docs/specs/otlp.
struct ExportSchedule {
    /// The consequence of an answer.
    enum Decision: Equatable {
        /// The export was accepted, at least in part.
        case accepted
        case retry(after: Int64)
        /// The export is dropped, and the next one has to wait.
        case abandoned(after: Int64)
    }

    /// The time for which one export is repeated.
    static let longestRetry: Int64 = 300_000
    /// The statuses of temporary failures.
    private static let passing: Set = [429, 502, 503, 504]
    private static let backoff = Backoff(first: 1_000, longest: 60_000)

    private var failures = 0
    private var failingSince: Int64?

    /// Decides about an export after an answer, or without one.
    mutating func decision(
        on answer: ExportAnswer,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Decision {
        if let status = answer.status, !ExportSchedule.passing.contains(status) {
            (failures, failingSince) = (0, nil)
            return (200..<300).contains(status) ? .accepted : .abandoned(after: 0)
        }
        let since = failingSince ?? now
        let usual = ExportSchedule.backoff.wait(after: failures)
        // Spreads the exports of many relays whose collector failed.
        let pause = max(0, answer.retryAfter ?? usual) + Int64.random(in: 0...usual / 4, using: &generator)
        failures += 1
        failingSince = since
        guard now + pause - since > ExportSchedule.longestRetry else { return .retry(after: pause) }
        failingSince = nil
        return .abandoned(after: min(pause, 3_600_000))
    }
}
