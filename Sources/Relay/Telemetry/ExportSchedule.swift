internal import APNs
internal import Wire

/// What a collector has answered to an export, as far as it matters.
struct ExportAnswer: Sendable, Equatable {
    /// The longest wait that an answer can ask for; an export is given up long before.
    private static let longestWaitInSeconds: Int64 = 86_400

    /// The HTTP status; nil without an answer.
    var status: Int?
    /// How long it wants to be left alone, in milliseconds; nil when it does not say.
    var retryAfter: Int64?
    /// Spans or numbers that it has left out of those that it took.
    var rejected: Int64 = 0
    /// What it says for people, or why there is no answer.
    var words = ""

    /// What an HTTP answer means that came at this time.
    init(_ response: HTTPResponse, at milliseconds: Int64) {
        status = response.status
        if let text = response.fields["retry-after"] {
            let seconds = Int64(text) ?? HTTPDate.seconds(text).map { $0 - milliseconds / 1_000 }
            retryAfter = seconds.map { min(max(0, $0), ExportAnswer.longestWaitInSeconds) * 1_000 }
        }
        guard response.status == 200 else { return }
        let partial = (try? JSONReader.read(response.body))?["partialSuccess"]
        let count = partial?["rejectedSpans"] ?? partial?["rejectedDataPoints"]
        rejected = count?.integerValue ?? count?.stringValue.flatMap { Int64($0) } ?? 0
        words = partial?["errorMessage"]?.stringValue ?? ""
    }

    /// There is no answer.
    init(_ error: WireError) {
        words = "\(error)"
    }
}

/// When an export is tried again, and when it is given up: a value without a clock, in milliseconds.
///
/// Source: "OTLP/HTTP Response" of https://opentelemetry.io/docs/specs/otlp.
struct ExportSchedule {
    /// What an answer means.
    enum Verdict: Equatable {
        /// It was taken, at least for the most part.
        case taken
        /// It is to be tried again.
        case again(after: Int64)
        /// It is lost, and the collector is to be left alone for a while.
        case givenUp(after: Int64)
    }

    /// How long one export is tried.
    static let patience: Int64 = 300_000
    /// Answers that pass.
    private static let passing: Set = [429, 502, 503, 504]
    private static let longestPause: Int64 = 60_000

    private var failures = 0
    private var failingSince: Int64?

    /// The collector has answered, or has not.
    mutating func verdict(
        on answer: ExportAnswer,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        if let status = answer.status, !ExportSchedule.passing.contains(status) {
            (failures, failingSince) = (0, nil)
            return (200..<300).contains(status) ? .taken : .givenUp(after: 0)
        }
        let since = failingSince ?? now
        let usual = min(1_000 << Int64(min(failures, 6)), ExportSchedule.longestPause)
        // Many relays that have lost one collector do not come back all at once.
        let pause = max(0, answer.retryAfter ?? usual) + Int64.random(in: 0...usual / 4, using: &generator)
        failures += 1
        failingSince = since
        guard now + pause - since > ExportSchedule.patience else { return .again(after: pause) }
        failingSince = nil
        return .givenUp(after: min(pause, 3_600_000))
    }
}
