// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import Synchronization

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
