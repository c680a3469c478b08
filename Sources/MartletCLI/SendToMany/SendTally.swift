// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

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
        guard let rest else { return SendTally.untried(notSent, of: outcomeCount) }
        guard let count = rest.count else {
            let read = notSent > 0 ? "\(notSent.counted("device")) and " : ""
            return read + "the rest of the list were not tried"
        }
        return SendTally.untried(notSent + count, of: outcomeCount + count)
    }

    private static func untried(_ count: Int, of all: Int) -> String {
        "\(count.grouped) of \(all.counted("device")) \(count == 1 ? "was" : "were") not tried"
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
