// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import Synchronization

extension Command {
    /// Imports a list of phones into a relay.
    static let relayImport = Command(
        "relay import",
        "Register the tokens of a list of phones with a relay, without tickets",
        examples: [
            "relay import phones.csv --app orders --key-file back-end.key",
            "relay import - --app orders --key-file back-end.key --json < phones.jsonl",
        ],
        Argument<InputFile>("file", "CSV with a heading, or JSON lines; - for standard input"),
        Option<AppName>("--app", "Name of the app in the relay"),
        RelayClient.declared,
        OutputFormat.declared
    ) { file, app, relay, output in
        try await PhoneImport(file: file, app: app, relay: relay, output: output).run()
    }
}

/// The import of a list of phones, a part of the list in each request.
private struct PhoneImport {
    /// The maximum number of rows in a request, and the size from which on no further row is added.
    ///
    /// A request has less than 1 MiB, which nginx permits by default: a row has at most 64 KiB.
    private static let requestRows = 2_000
    private static let requestBytes = 512 << 10
    /// The maximum time for a request.
    private static let requestTime = Duration.seconds(300)
    /// The interval between checks whether a pipe has more data.
    private static let pollInterval = Duration.milliseconds(10)

    let file: InputFile
    let app: AppName
    let relay: RelayClient
    let output: OutputFormat

    /// The rows of the next request.
    private struct Part {
        var bytes: [UInt8] = []
        /// The number of each row's line in the list.
        var lines: [Int] = []
        /// The lines between the rows that cannot be sent, which are reported with those that the relay refuses.
        var badLines: [BadLine] = []

        var isFull: Bool {
            max(lines.count, badLines.count) >= PhoneImport.requestRows || bytes.count >= PhoneImport.requestBytes
        }

        mutating func add(_ row: JSONValue, line: Int) {
            bytes += row.encoded() + [UInt8(ascii: "\n")]
            lines.append(line)
        }
    }

    func run() async throws {
        let ledger = ImportLedger(printsBadLines: !output.isJSON)
        let progress = Task { try await Terminal.errors.showProgress { ledger.progress } }
        do {
            try await send(ledger)
        } catch {
            progress.cancel()
            _ = await progress.result
            if ledger.sentCount > 0 {
                let rows = ledger.sentCount.counted("row")
                // Of the part without an answer, rows may be stored, too.
                Terminal.errors.write(
                    "stopped after at least \(rows): repeat the command, which skips what is stored\n"
                )
            }
            throw error
        }
        progress.cancel()
        _ = await progress.result
        if let zones = ledger.unknownZones {
            Terminal.errors.write("warning: unknown time zones, which count as not reported: \(zones)\n")
        }
        output.write(json: ledger.json, text: ledger.table)
        if ledger.refusedCount > 0 { throw CommandFailure() }
    }

    /// Reads the list, and sends it.
    private func send(_ ledger: ImportLedger) async throws {
        var reader = try LineReader(file)
        var format: DeviceRow.Format?
        var part = Part()
        // Also before the error of a request or of the list.
        defer { ledger.refuse(part.badLines) }
        while true {
            // Waiting in the blocking read call would occupy a thread of the shared pool.
            while reader.mustWait { try await Task.sleep(for: Self.pollInterval) }
            guard let line = try reader.next() else { break }
            guard !line.isEmpty else { continue }
            let number = reader.lineNumber
            guard let known = format else {
                let first = try self.format(of: line, number)
                format = first.format
                reader.isCSV = first.isHeading
                if !first.isHeading { add(line, first.format, number, to: &part) }
                continue
            }
            add(line, known, number, to: &part)
            if part.isFull { try await send(&part, known, ledger) }
            ledger.read(reader.byteCount, of: reader.length)
        }
        if let format { try await send(&part, format, ledger) }
    }

    /// Returns the format of the list, which its first line determines.
    private func format(
        of line: ArraySlice<UInt8>,
        _ number: Int
    ) throws -> (format: DeviceRow.Format, isHeading: Bool) {
        let first: (format: DeviceRow.Format, isHeading: Bool)
        do throws(UsageError) {
            first = try DeviceRow.Format.of(firstLine: line, among: PhoneRow.columns)
            try PhoneRow.check(first.format)
        } catch {
            throw BadLinesError(BadLine(number: number, message: "\(error)"), of: file)
        }
        let ignored = first.format.ignoredColumns
        if !ignored.isEmpty {
            Terminal.errors.write("ignored columns of \(file.label): \(ignored.joined(separator: ", "))\n")
        }
        return first
    }

    private func add(
        _ line: ArraySlice<UInt8>,
        _ format: DeviceRow.Format,
        _ number: Int,
        to part: inout Part
    ) {
        do throws(UsageError) {
            part.add(try PhoneRow.installation(line, format), line: number)
        } catch {
            part.badLines.append(BadLine(number: number, message: "\(error)"))
        }
    }

    /// Sends the rows of a part, and reports its refused lines in their order; the part is empty afterwards.
    private func send(_ part: inout Part, _ format: DeviceRow.Format, _ ledger: ImportLedger) async throws {
        if !part.lines.isEmpty {
            let answer = try await relay.send(
                "POST",
                "/v1/apps/\(app.text)/installations",
                part.bytes,
                type: "application/x-ndjson",
                within: Self.requestTime
            )
            part.badLines += ledger.add(answer, lines: part.lines, format)
        }
        ledger.refuse(part.badLines.sorted { $0.number < $1.number })
        part = Part()
    }
}

/// The results of an import, which one task adds and another task shows.
private final class ImportLedger: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var sent = 0
        var refused = 0
        /// The first refused lines.
        var badLines: [BadLine] = []
        /// The first unknown time zones of the list.
        var unknownZones: Set<String> = []
        /// The fraction of the list that has been read; nil if its length is not known.
        var share: Double?
    }

    /// The names of the counts in answers, with their names in the table.
    private static let names = [
        ("added", "added"), ("changed", "changed"), ("unchanged", "unchanged"),
        ("known", "known, because the app has enrolled"), ("unregistered", "unregistered"),
    ]
    /// The maximum number of refused lines that are listed; further ones are only counted.
    private static let namedBadLines = 1_000
    /// The maximum number of unknown time zones that are listed.
    private static let namedZones = 20

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    /// Whether refused lines are printed to standard error when they are found.
    private let printsBadLines: Bool

    init(printsBadLines: Bool) {
        self.printsBadLines = printsBadLines
    }

    var sentCount: Int { state.withLock { $0.sent } }

    var refusedCount: Int { state.withLock { $0.refused } }

    /// The unknown time zones as a list; nil for none.
    var unknownZones: String? {
        let zones = state.withLock { $0.unknownZones }
        return zones.isEmpty ? nil : zones.sorted().map { ShownValue.quoted($0) }.joined(separator: ", ")
    }

    func read(_ bytes: Int, of length: Int?) {
        guard let length, length > 0 else { return }
        state.withLock { $0.share = min(1, Double(bytes) / Double(length)) }
    }

    func refuse(_ lines: [BadLine]) {
        for line in lines { refuse(line) }
    }

    private func refuse(_ line: BadLine) {
        let count = state.withLock { state in
            state.refused += 1
            if state.badLines.count < Self.namedBadLines { state.badLines.append(line) }
            return state.refused
        }
        guard printsBadLines, count <= Self.namedBadLines else { return }
        Terminal.errors.write("line \(line.number): \(line.message)\n")
        if count == Self.namedBadLines { Terminal.errors.write("more refused lines are counted, not listed\n") }
    }

    /// Adds the numbers of the answer to a request with the rows of some lines, and returns the lines that it refuses,
    /// which are not added.
    ///
    /// The numbers come from the relay and may be any numbers.
    func add(_ answer: JSONValue, lines: [Int], _ format: DeviceRow.Format) -> [BadLine] {
        func count(_ name: String) -> Int { min(lines.count, max(0, Int(clamping: answer[name]?.integerValue ?? 0))) }
        let problems = answer["problems"]?.elements ?? []
        let badLines: [BadLine] = problems.compactMap { problem in
            let row = Int(clamping: problem["line"]?.integerValue ?? 0)
            guard row > 0, row <= lines.count else { return nil }
            return BadLine(number: lines[row - 1], message: PhoneRow.message(of: problem, format))
        }
        let zones = (answer["unknown-time-zones"]?.elements ?? []).compactMap(\.stringValue)
        state.withLock { state in
            for zone in zones where state.unknownZones.count < Self.namedZones { state.unknownZones.insert(zone) }
            state.sent += lines.count
            state.refused += max(0, count("refused") - problems.count)
            for (name, _) in Self.names { state.counts[name, default: 0] += count(name) }
        }
        return badLines
    }

    /// The line that shows the progress.
    var progress: String {
        let state = state.withLock { $0 }
        let rate = Double(state.sent) / max((ContinuousClock.now - start) / .seconds(1), 0.001)
        let share = state.share.map { "\(Int($0 * 100)) %  " } ?? ""
        let refused = state.refused > 0 ? ", \(state.refused.grouped) refused" : ""
        return "\(share)\(state.sent.grouped) rows, \(rate.shortText)/s\(refused)"
    }

    var json: JSONValue {
        let state = state.withLock { $0 }
        let counts = Self.names.map { JSONValue.Member($0.0, .integer(state.counts[$0.0, default: 0])) }
        let lines = JSONValue.array(state.badLines.map(\.json))
        return .object(counts + [.init("refused", .integer(state.refused)), .init("lines", lines)])
    }

    var table: String {
        let state = state.withLock { $0 }
        var table = Table(["", Table.Column("rows", isNumeric: true)])
        for (name, shown) in Self.names {
            let count = state.counts[name, default: 0]
            if count > 0 || name == "added" { table.add([Table.Cell(shown), Table.Cell(count.grouped)]) }
        }
        if state.refused > 0 { table.add(["refused", Table.Cell(state.refused.grouped, .bad)]) }
        return table.text(for: .output)
    }
}
