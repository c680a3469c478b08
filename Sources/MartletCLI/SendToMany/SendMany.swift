// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletTransport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The options for a bulk send.
struct SendManyOptions: Sendable {
    var list: InputFile?
    var results: String?
    var unregistered: String?
    var rate: Int?
    var isResumed: Bool
    var skipsBadLines: Bool
    var isDryRun: Bool

    /// Whether no option was given.
    var isEmpty: Bool {
        list == nil && results == nil && unregistered == nil && rate == nil && !isResumed && !skipsBadLines && !isDryRun
    }

    static let declared = Group(
        Option<InputFile?>("--tokens", "List of devices: one token per line, CSV with a heading, or JSON lines"),
        Option<FilePath?>("--results", "Output file for the result of each device, JSON lines"),
        Option<FilePath?>(
            "--unregistered-tokens",
            "Output file for unregistered tokens with the time from APNs: CSV with a heading, as --tokens reads it"
        ),
        Option<PositiveNumber?>("--rate", "Maximum devices per second"),
        Flag("--resume", "Resume an interrupted run that wrote --results"),
        Flag("--skip-bad-lines", "Report invalid lines of the list and skip them, instead of sending nothing"),
        Flag("--dry-run", "Check the list and the pushes, and send nothing")
    ) {
        SendManyOptions(
            list: $0,
            results: $1?.path,
            unregistered: $2?.path,
            rate: $3?.value,
            isResumed: $4,
            skipsBadLines: $5,
            isDryRun: $6
        )
    }
}

/// Sends a notification to a list of devices.
struct SendMany: Sendable {
    let list: InputFile
    let options: SendManyOptions
    let notification: NotificationOptions
    let topic: Topic
    let output: OutputFormat

    /// Checks the list, and the push to each of its devices.
    func check() async throws {
        let ledger = SendLedger(printsBadLines: !output.isJSON)
        let common = try notification.commonNotification()
        var deviceCount = 0
        var findings: [String: Int] = [:]
        try await devices(AnsweredLines(), ledger).check { recipient in
            deviceCount += 1
            guard let notification = recipient.notification ?? common else { return }
            let byteCount = try notification.payload.encoded().count
            let finding = PushLint.firstError(in: notification, topic: topic, payloadByteCount: byteCount)
            if let finding { findings[finding.message, default: 0] += 1 }
        }
        warnIfEmpty(ledger)
        let badLines = ledger.tally.badLines
        if output.isJSON {
            let members = [
                "devices": deviceCount, "bad-lines": badLines, "would-be-refused": findings.values.reduce(0, +),
            ]
            Terminal.output.write(json(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }).line)
        } else {
            var table = Table(["", Table.Column("devices", isNumeric: true)])
            table.add(["in the list", Table.Cell(deviceCount.grouped)])
            if badLines > 0 { table.add(["bad lines", Table.Cell(badLines.grouped, .bad)]) }
            for (message, count) in findings.sorted(by: { $0.value > $1.value }) {
                table.add([Table.Cell(message), Table.Cell(count.grouped, .bad)])
            }
            Terminal.output.write(table.text(for: .output))
        }
        if badLines > 0, !options.skipsBadLines { throw badLinesError(ledger) }
        if !findings.isEmpty { throw CommandFailure() }
    }

    /// Sends to all devices of the list that have no answer from an earlier run.
    func run(_ server: ServerOptions, isChecked: Bool) async throws {
        let tally = try await server.withClient(checksBeforeSending: isChecked, send)
        guard let status = tally.status else { return }
        if let interruption = tally.interruption { throw interruption }
        guard let failure = tally.failure, ExitStatus(of: failure) == status else { throw CommandFailure(status) }
        guard let hint = server.hint(for: failure) else { throw failure }
        throw ServerError(cause: failure, hint: hint)
    }

    /// Sends, and reports the results.
    private func send(with client: PushClient) async throws -> SendTally {
        var answered = AnsweredLines()
        // The number of devices in the list, which is known when the list can be read twice.
        var deviceCount: Int?
        let common = try notification.commonNotification()
        let results = try ResultsFile(options, answered: &answered)
        do {
            // A pipe can be read only once, so its lines are not checked first.
            if !list.isStandardInput, FileIdentity(list.path)?.isRegular != false {
                deviceCount = try await checkList(answered)
            }
        } catch {
            results.removeIfEmpty()
            throw error
        }
        if let common {
            let anyDevice = try DeviceToken(hex: "00")
            try? client.describe(common, to: anyDevice, topic: topic).printNotes()
        }
        let ledger = SendLedger(printsBadLines: true)
        // Without common content, each device has its own notification, and this placeholder is never sent.
        let sending = client.send(common ?? .background(), to: devices(answered, ledger), topic: topic)
        let termination = try await TerminationSignal.watch()
        let interruption = Task {
            guard let signal = await termination.received() else { return }
            ledger.interrupted(signal == SIGTERM ? .terminated : .interrupted)
            sending.stop()
        }
        let start = ContinuousClock.now
        let progress = Task {
            try await Terminal.errors.showProgress {
                try results.flush()
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                return SendProgress(tally: ledger.tally, share: ledger.share, seconds: seconds).line
            }
        }
        defer { interruption.cancel() }
        var failures: [any Error] = []
        do {
            for try await outcome in sending {
                let line = ledger.count(outcome)
                do throws(CommandError) {
                    if failures.isEmpty { try results.note(outcome, line: line) }
                } catch {
                    // Stop sending, but count the pushes in flight.
                    failures.append(error)
                    sending.stop()
                }
                if outcome.error?.code == .circuitOpen || sending.isServerUnresponsive { sending.stop() }
            }
        } catch {
            failures.append(error)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        progress.cancel()
        if case .failure(let error) = await progress.result { failures.append(error) }
        do throws(CommandError) {
            try results.finish()
        } catch {
            failures.append(error)
        }
        warnIfEmpty(ledger)
        var tally = ledger.tally
        if !ledger.isAtEnd || !failures.isEmpty { tally.fail(.failure) }
        if !ledger.isAtEnd { tally.rest = SendTally.Rest(count: deviceCount.map { max(0, $0 - tally.outcomeCount) }) }
        if let status = ledger.interruption { tally.noteInterruption(status) }
        if failures.isEmpty || tally.outcomeCount > 0 { report(tally, seconds, isWhole: ledger.isAtEnd) }
        guard let failure = failures.first else { return tally }
        results.removeIfEmpty()
        throw failure
    }

    private func devices(_ answered: AnsweredLines, _ ledger: SendLedger) -> DeviceList {
        DeviceList(
            file: list,
            options: notification,
            answered: answered,
            ledger: ledger,
            skipsBadLines: options.skipsBadLines,
            rate: options.rate
        )
    }

    /// Reads the whole list first, so that nothing is sent if a line is invalid or the list cannot be read completely.
    ///
    /// - Returns: The number of devices to send to.
    private func checkList(_ answered: AnsweredLines) async throws -> Int {
        // The run that follows prints ignored columns, and invalid lines if it skips them.
        let ledger = SendLedger(printsBadLines: !output.isJSON && !options.skipsBadLines)
        var devices = devices(answered, ledger)
        devices.namesIgnoredColumns = false
        try await devices.check()
        guard options.skipsBadLines || ledger.tally.badLines == 0 else { throw badLinesError(ledger) }
        return ledger.readCount
    }

    private func warnIfEmpty(_ ledger: SendLedger) {
        let tally = ledger.tally
        guard ledger.isAtEnd, ledger.readCount + tally.answeredBefore + tally.badLines == 0 else { return }
        Terminal.errors.write("martlet send: warning: \(list.label) has no devices\n")
    }

    private func badLinesError(_ ledger: SendLedger) -> BadLinesError {
        let count = ledger.tally.badLines
        return BadLinesError(
            description: "nothing was sent: \(list.label) has \(count.counted("bad line")); "
                + "correct them, or skip them with --skip-bad-lines",
            lines: ledger.badLines
        )
    }

    private func report(_ tally: SendTally, _ seconds: Double, isWhole: Bool) {
        let refusals = tally.refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if output.isJSON {
            let counts = [
                ("accepted", tally.accepted), ("refused", tally.refused), ("unanswered", tally.unanswered),
                ("not-sent", tally.notSent), ("answered-before", tally.answeredBefore), ("bad-lines", tally.badLines),
            ]
            let reasons = refusals.map { JSONValue.Member($0.key, .integer($0.value)) }
            var more = [JSONValue.Member("reasons", .object(reasons))]
            if let rest = tally.rest {
                more.append(.init("not-read", rest.count.map { .integer($0) } ?? .null))
            }
            Terminal.output.write(json(counts, more).line)
        } else {
            var table = Table(["", Table.Column("devices", isNumeric: true)])
            table.add(["accepted", Table.Cell(tally.accepted.grouped, .good)])
            for (reason, count) in refusals { table.add([Table.Cell(reason), Table.Cell(count.grouped, .bad)]) }
            let rest = [
                ("sent, not answered", tally.unanswered), ("not sent", tally.notSent),
                ("answered before", tally.answeredBefore), ("bad lines skipped", tally.badLines),
            ]
            for (what, count) in rest where count > 0 { table.add([Table.Cell(what), Table.Cell(count.grouped)]) }
            if let rest = tally.rest, rest.count != 0 {
                table.add(["not read from the list", Table.Cell(rest.count.map(\.grouped) ?? "the rest")])
            }
            let count = tally.answered + tally.unanswered
            let rate = Double(count) / max(seconds, 0.001)
            Terminal.output.write(table.text(for: .output))
            Terminal.output.write("\(seconds.shortText) s, \(rate.shortText) devices per second\n")
        }
        if tally.rest != nil, tally.interruption == nil, !output.isJSON {
            Terminal.errors.write("stopped before the end of the list: \(tally.untried)\n")
        }
        if !tally.isComplete || !isWhole, options.results != nil {
            Terminal.errors.write("to send to the devices without an answer, repeat the command with --resume\n")
        }
    }

    private func json(_ counts: [(String, Int)], _ more: [JSONValue.Member] = []) -> JSONValue {
        .object(counts.map { JSONValue.Member($0.0, .integer($0.1)) } + more)
    }
}
