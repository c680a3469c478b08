import Martlet
import MartletCommands
import Synchronization

/// The current results of a bulk send.
struct SendTally: Sendable {
    var accepted = 0
    /// The number of final refusals, by the reason of APNs or the code of the error.
    var refusals: [String: Int] = [:]
    /// The number of devices that were sent to without an answer.
    var unanswered = 0
    /// The number of devices that were not sent to.
    var notSent = 0
    var badLines = 0
    var answeredBefore = 0
    /// The last failure other than a refusal, among those with the highest exit status.
    private(set) var failure: APNsError?
    /// The part of the list that was not read; nil when the list was read to its end.
    var rest: Rest?
    /// The error for a run that a signal has ended before its end; nil otherwise.
    private(set) var interruption: InterruptedError?

    /// The part of a list that was not read.
    struct Rest: Sendable {
        /// The number of its devices; nil when it is not known, as for a pipe.
        var count: Int?
    }

    /// The exit status: the highest of all devices; nil if each push was accepted.
    private(set) var status: ExitStatus?

    var refused: Int { refusals.values.reduce(0, +) }

    /// The number of devices with a final result.
    var answered: Int { accepted + refused }

    /// The number of devices with any result.
    var outcomeCount: Int { answered + unanswered + notSent }

    /// Whether every device so far has a final result.
    var isComplete: Bool { unanswered == 0 && notSent == 0 }

    /// The devices that were not sent to, as a clause.
    var untried: String {
        guard let rest else { return "\(notSent.grouped) of \(outcomeCount.grouped) devices were not tried" }
        guard let count = rest.count else {
            let read = notSent > 0 ? "\(notSent.grouped) devices and " : ""
            return read + "the rest of the list were not tried"
        }
        return "\((notSent + count).grouped) of \((outcomeCount + count).grouped) devices were not tried"
    }

    /// Records that a signal has ended the run; has no effect when every device of the list was sent to.
    mutating func noteInterruption(_ status: ExitStatus) {
        guard notSent > 0 || rest != nil && rest?.count != 0 else { return }
        fail(status)
        interruption = InterruptedError(
            description: "interrupted: \(untried)",
            status: status,
            untried: rest == nil ? notSent : rest?.count.map { notSent + $0 }
        )
    }

    /// Raises the exit status to at least this one.
    mutating func fail(_ status: ExitStatus) {
        self.status = max(self.status ?? status, status)
    }

    private mutating func note(_ error: APNsError) {
        guard error.code != .cancelled else { return }
        if let failure, ExitStatus(of: error) < ExitStatus(of: failure) { return }
        failure = error
    }

    mutating func count(_ outcome: BulkOutcome) {
        guard let error = outcome.error else {
            accepted += 1
            return
        }
        fail(ExitStatus(of: error))
        if !outcome.isFinal || ExitStatus(of: error) == .unreachable { note(error) }
        if outcome.isFinal {
            refusals[error.reason?.rawValue ?? error.code.description, default: 0] += 1
        } else {
            if error.outcome == .unknown { unanswered += 1 } else { notSent += 1 }
        }
    }
}

/// An error for a run that a signal has ended before all devices were sent to.
struct InterruptedError: Error, CustomStringConvertible {
    let description: String
    /// The exit status, which states the signal.
    let status: ExitStatus
    /// The number of devices that were not sent to; nil when it is not known.
    let untried: Int?

    /// The error as members of a JSON object.
    var members: [JSONValue.Member] {
        [
            .init("error", "interrupted"), .init("message", .string(description)),
            .init("not-tried", untried.map { .integer($0) } ?? .null),
        ]
    }
}

extension BulkOutcome {
    /// Whether the result is final, so that a resumed run skips the device.
    var isFinal: Bool {
        guard let error else { return true }
        return error.outcome == .answered || error.code == .invalid
    }
}

/// The results of a list that is read on one task while another task receives the outcomes.
final class SendLedger: Sendable {
    private struct State {
        var tally = SendTally()
        /// The line numbers of the devices in flight, by their index among those read.
        var lines: [Int: Int] = [:]
        var readCount = 0
        var bytesRead = 0
        var byteCount: Int?
        var isAtEnd = false
        var interruption: ExitStatus?
        /// The first invalid lines.
        var badLines: [BadLine] = []
    }

    /// The maximum number of invalid lines that are listed; further ones are only counted.
    private static let namedBadLines = 20

    private let state = Mutex(State())
    /// Whether invalid lines are printed to standard error when they are found.
    private let printsBadLines: Bool

    init(printsBadLines: Bool) {
        self.printsBadLines = printsBadLines
    }

    var tally: SendTally { state.withLock { $0.tally } }

    /// The first invalid lines.
    var badLines: [BadLine] { state.withLock { $0.badLines } }

    /// The fraction of the list that has been read; nil if its length is not known.
    var share: Double? {
        state.withLock { state in
            guard let byteCount = state.byteCount, byteCount > 0, !state.isAtEnd else { return state.isAtEnd ? 1 : nil }
            return min(1, Double(state.bytesRead) / Double(byteCount))
        }
    }

    func began(byteCount: Int?) {
        state.withLock { $0.byteCount = byteCount }
    }

    /// Whether the whole list has been read.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    func ended() {
        state.withLock { $0.isAtEnd = true }
    }

    /// The exit status for the signal that has ended the run; nil without one.
    var interruption: ExitStatus? { state.withLock { $0.interruption } }

    func interrupted(_ status: ExitStatus) {
        state.withLock { $0.interruption = status }
    }

    /// The number of devices that were read and have no answer from an earlier run.
    var readCount: Int { state.withLock { $0.readCount } }

    func read(line: Int, bytesSoFar: Int) {
        state.withLock { state in
            state.lines[state.readCount] = line
            state.readCount += 1
            state.bytesRead = bytesSoFar
        }
    }

    /// Discards the device that was read last, which is not sent to and has no outcome.
    func discardLast() {
        state.withLock { state in state.lines[state.readCount - 1] = nil }
    }

    func noteAnsweredBefore() {
        state.withLock { $0.tally.answeredBefore += 1 }
    }

    func noteBadLine(_ line: BadLine) {
        let count = state.withLock { state in
            state.tally.badLines += 1
            if state.tally.badLines <= SendLedger.namedBadLines { state.badLines.append(line) }
            return state.tally.badLines
        }
        guard printsBadLines, count <= SendLedger.namedBadLines else { return }
        Terminal.errors.write("line \(line.number): \(line.message)\n")
        if count == SendLedger.namedBadLines { Terminal.errors.write("more bad lines are counted, not listed\n") }
    }

    /// Counts an outcome, and returns the line of its device.
    func count(_ outcome: BulkOutcome) -> Int {
        state.withLock { state in
            state.tally.count(outcome)
            return state.lines.removeValue(forKey: outcome.index) ?? 0
        }
    }
}
