import APNsClient
import Commands
import Synchronization

/// The results of a bulk send so far.
struct SendTally: Sendable {
    var accepted = 0
    /// Refusals for good, by what APNs or the rules said.
    var refusals: [String: Int] = [:]
    /// Devices that went out and were not answered.
    var unanswered = 0
    /// Devices that were not sent to.
    var notSent = 0
    var badLines = 0
    var answeredBefore = 0
    /// The last failure other than a refusal, among those with the highest exit status.
    private(set) var failure: APNsError?
    /// The number of consecutive devices that were not sent to.
    var notSentInARow = 0
    /// The exit status: the highest of all devices; nil when each push was accepted.
    private(set) var status: ExitStatus?

    var refused: Int { refusals.values.reduce(0, +) }

    /// Devices that were answered, or need no answer.
    var answered: Int { accepted + refused }

    /// Devices with an outcome of any kind.
    var outcomeCount: Int { answered + unanswered + notSent }

    /// Whether each device that there is has been answered, now or before.
    var isComplete: Bool { unanswered == 0 && notSent == 0 }

    /// Raises the exit status to this one.
    mutating func fail(_ status: ExitStatus) {
        self.status = max(self.status ?? status, status)
    }

    private mutating func note(_ error: APNsError) {
        guard error.code != .cancelled else { return }
        if let failure, ExitStatus(of: error) < ExitStatus(of: failure) { return }
        failure = error
    }

    mutating func count(_ outcome: BulkOutcome) {
        notSentInARow = outcome.isNotSent ? notSentInARow + 1 : 0
        guard let error = outcome.error else {
            accepted += 1
            return
        }
        fail(ExitStatus(of: error))
        if !outcome.isFinal || ExitStatus(of: error) == .unreachable { note(error) }
        if outcome.isFinal {
            refusals[error.reason?.rawValue ?? error.code.description, default: 0] += 1
        } else {
            if outcome.isNotSent { notSent += 1 } else { unanswered += 1 }
        }
    }
}

extension BulkOutcome {
    /// Whether there is nothing left to find out: a resumed sending leaves the device out.
    var isFinal: Bool {
        guard let error else { return true }
        return error.outcome == .answered || error.code == .invalid
    }

    fileprivate var isNotSent: Bool {
        guard let error, !isFinal else { return false }
        return error.outcome != .unknown
    }
}

/// Keeps account of a list that is read on one task and answered on another.
final class SendLedger: Sendable {
    private struct State {
        var tally = SendTally()
        /// The lines of the devices that are on their way, by their places among those read.
        var lines: [Int: Int] = [:]
        var readCount = 0
        var bytesRead = 0
        var byteCount: Int?
        var isAtEnd = false
        /// The first bad lines.
        var badLines: [BadLine] = []
    }

    /// Lines that are named one by one; further ones are only counted.
    private static let namedBadLines = 20

    private let state = Mutex(State())
    /// Whether bad lines are printed to standard error as they are found.
    private let printsBadLines: Bool

    init(printsBadLines: Bool) {
        self.printsBadLines = printsBadLines
    }

    var tally: SendTally { state.withLock { $0.tally } }

    /// The first bad lines.
    var badLines: [BadLine] { state.withLock { $0.badLines } }

    /// The share of the list that has been read; nil when its length is not known.
    var share: Double? {
        state.withLock { state in
            guard let byteCount = state.byteCount, byteCount > 0, !state.isAtEnd else { return state.isAtEnd ? 1 : nil }
            return min(1, Double(state.bytesRead) / Double(byteCount))
        }
    }

    func began(byteCount: Int?) {
        state.withLock { $0.byteCount = byteCount }
    }

    /// Whether there are no more lines.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    func ended() {
        state.withLock { $0.isAtEnd = true }
    }

    func read(line: Int, bytesSoFar: Int) {
        state.withLock { state in
            state.lines[state.readCount] = line
            state.readCount += 1
            state.bytesRead = bytesSoFar
        }
    }

    /// The device that was read last is not sent to: it will have no outcome.
    func passedOver() {
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

    /// Counts an outcome, and tells the line of its device.
    func count(_ outcome: BulkOutcome) -> (line: Int, tally: SendTally) {
        state.withLock { state in
            state.tally.count(outcome)
            return (state.lines.removeValue(forKey: outcome.index) ?? 0, state.tally)
        }
    }
}
