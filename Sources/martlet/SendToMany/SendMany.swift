import APNsClient
import Commands
import Synchronization
import Wire

/// The options of sending to a list of devices.
struct SendManyOptions: Sendable {
    var list: InputFile?
    var results: String?
    var dead: String?
    var rate: Int?
    var isResumed: Bool
    var skipsBadLines: Bool
    var isDryRun: Bool

    /// Whether nothing was asked for.
    var isEmpty: Bool {
        list == nil && results == nil && dead == nil && rate == nil && !isResumed && !skipsBadLines && !isDryRun
    }

    static let declared = Group(
        Option<InputFile?>("--tokens", "List of devices: a token on each line, CSV with a heading, or JSON lines"),
        Option<String?>("--results", "File for what each device was answered, JSON lines"),
        Option<String?>("--dead-tokens", "File for tokens that are no longer valid, each with the time since when"),
        Option<Int?>("--rate", "Devices in a second at most"),
        Flag("--resume", "Go on where the run that wrote --results was interrupted"),
        Flag("--skip-bad-lines", "Name bad lines of the list and leave them out, instead of sending nothing"),
        Flag("--dry-run", "Check the list and what would be sent, and send nothing")
    ) {
        SendManyOptions(
            list: $0,
            results: $1,
            dead: $2,
            rate: $3,
            isResumed: $4,
            skipsBadLines: $5,
            isDryRun: $6
        )
    }
}

/// Sends a notification to a list of devices.
struct SendMany: Sendable {
    /// So many devices in a row that could not be sent to are enough to give up.
    private static let notSentLimit = 1_000

    let list: InputFile
    let options: SendManyOptions
    let notification: NotificationOptions
    let topic: Topic
    let isJSON: Bool

    /// Checks the list, and what would be sent to each of its devices.
    func check() async throws {
        let ledger = SendLedger()
        let common = try notification.notification()
        var deviceCount = 0
        var findings: [String: Int] = [:]
        try await devices(AnsweredLines(), ledger).check { recipient in
            deviceCount += 1
            let notification = recipient.notification ?? common
            let byteCount = try notification.payload.encoded().count
            let finding = Lint.firstError(in: notification, topic: topic, payloadByteCount: byteCount)
            if let finding { findings[finding.message, default: 0] += 1 }
        }
        let badLines = ledger.tally.badLines
        if isJSON {
            let members = [
                "devices": deviceCount, "bad-lines": badLines, "would-be-refused": findings.values.reduce(0, +),
            ]
            Terminal.output.write(json(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
        } else {
            var table = Table(["", Table.Column("devices", isNumeric: true)])
            table.add(["in the list", Table.Cell(deviceCount.grouped)])
            if badLines > 0 { table.add(["bad lines", Table.Cell(badLines.grouped, .bad)]) }
            for (message, count) in findings.sorted(by: { $0.value > $1.value }) {
                table.add([Table.Cell(message), Table.Cell(count.grouped, .bad)])
            }
            Terminal.output.write(table.text(for: .output))
        }
        guard findings.isEmpty, badLines == 0 || options.skipsBadLines else { throw CommandFailure() }
    }

    /// Sends to all devices of the list that were not answered before.
    func run(_ client: PushClient) async throws {
        var answered = AnsweredLines()
        if !options.skipsBadLines, list.path != "-" { try await refuseBadLines() }
        let results = try ResultsFile(options, answered: &answered)
        let ledger = SendLedger()
        let sending = client.send(try notification.notification(), to: devices(answered, ledger), topic: topic)
        let interruption = Task {
            try await TerminationSignal.received()
            sending.stop()
        }
        let start = ContinuousClock.now
        let progress = Task {
            try await SendProgress.show(on: .errors) {
                try results.flush()
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                return SendProgress.Moment(tally: ledger.tally, share: ledger.share, seconds: seconds)
            }
        }
        defer { interruption.cancel() }
        do {
            for try await outcome in sending {
                let (line, tally) = ledger.count(outcome)
                try results.note(outcome, line: line)
                if outcome.error?.code == .circuitOpen || tally.notSentInARow == SendMany.notSentLimit {
                    sending.stop()
                }
            }
        } catch {
            progress.cancel()
            _ = await progress.result
            try results.finish()
            throw error
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        progress.cancel()
        try await progress.value
        try results.finish()
        report(ledger.tally, seconds, isWhole: ledger.isAtEnd)
        if !ledger.tally.isComplete || !ledger.isAtEnd { throw CommandFailure() }
    }

    private func devices(_ answered: AnsweredLines, _ ledger: SendLedger) -> DeviceList {
        DeviceList(
            file: list,
            options: notification,
            answered: answered,
            ledger: ledger,
            skipsBadLines: options.skipsBadLines,
            rate: options.rate.map { max(1, $0) }
        )
    }

    /// Whoever does not want bad lines left out wants to know of them before anything is sent.
    private func refuseBadLines() async throws {
        let ledger = SendLedger()
        try await devices(AnsweredLines(), ledger).check()
        let count = ledger.tally.badLines
        guard count == 0 else {
            throw UsageError(
                "nothing was sent: \(list.path) has \(count.grouped) bad lines; "
                    + "mend them, or have them left out with --skip-bad-lines"
            )
        }
    }

    private func report(_ tally: SendTally, _ seconds: Double, isWhole: Bool) {
        let refusals = tally.refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if isJSON {
            let counts = [
                ("accepted", tally.accepted), ("refused", tally.refused), ("unanswered", tally.unanswered),
                ("not-sent", tally.notSent), ("answered-before", tally.answeredBefore), ("bad-lines", tally.badLines),
            ]
            let reasons = refusals.map { JSONValue.Member($0.key, .number(JSONNumber($0.value))) }
            Terminal.output.write(json(counts, [.init("reasons", .object(reasons))]))
        } else {
            var table = Table(["", Table.Column("devices", isNumeric: true)])
            table.add(["accepted", Table.Cell(tally.accepted.grouped, .good)])
            for (reason, count) in refusals { table.add([Table.Cell(reason), Table.Cell(count.grouped, .bad)]) }
            let rest = [
                ("sent, not answered", tally.unanswered), ("not sent", tally.notSent),
                ("answered before", tally.answeredBefore), ("bad lines left out", tally.badLines),
            ]
            for (what, count) in rest where count > 0 { table.add([Table.Cell(what), Table.Cell(count.grouped)]) }
            let count = tally.answered + tally.unanswered
            let rate = Int(Double(count) / max(seconds, 0.001))
            Terminal.output.write(table.text(for: .output))
            Terminal.output.write("\(Int(seconds.rounded(.up)).grouped) s, \(rate.grouped) a second\n")
        }
        if let trouble = tally.trouble { Terminal.errors.write("the last failure: \(trouble)\n") }
        if !tally.isComplete || !isWhole, options.results != nil {
            Terminal.errors.write("--resume sends to those that were not answered\n")
        }
    }

    private func json(_ counts: [(String, Int)], _ more: [JSONValue.Member] = []) -> String {
        let members = counts.map { JSONValue.Member($0.0, .number(JSONNumber($0.1))) } + more
        return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self) + "\n"
    }
}
