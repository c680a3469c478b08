// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

/// The remaining devices of a list, read at a limited rate.
struct DeviceList: AsyncSequence, Sendable {
    typealias Element = Recipient
    typealias Failure = any Error

    /// The interval between checks whether a pipe has more data.
    private static let pollInterval = Duration.milliseconds(10)

    let file: InputFile
    /// The options for all devices; a line may override some of them.
    let options: NotificationOptions
    let answered: AnsweredLines
    let ledger: SendLedger
    var skipsBadLines = false
    var namesIgnoredColumns = true
    /// The maximum number of devices per second; nil for no limit.
    var rate: Int?

    func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads all lines and records the result in the ledger, without sending.
    ///
    /// - Parameter body: Receives each push that would be sent.
    /// - Throws: ``UsageError`` if the list cannot be read, and the errors of `body`.
    func check(_ body: (Recipient) throws -> Void = { _ in }) async throws {
        var list = self
        list.skipsBadLines = true
        list.rate = nil
        for try await recipient in list {
            try body(recipient)
            ledger.discardLast()
        }
    }

    final class Iterator: AsyncIteratorProtocol {
        private let list: DeviceList
        private var reader: LineReader?
        private var format: DeviceRow.Format?
        private var due = ContinuousClock.now

        init(_ list: DeviceList) {
            self.list = list
        }

        func next() async throws -> Recipient? {
            if reader == nil {
                reader = try LineReader(list.file)
                list.ledger.began(byteCount: reader?.length)
            }
            while true {
                // Waiting in the blocking read call would occupy a thread of the shared pool.
                while reader?.mustWait ?? false { try await Task.sleep(for: DeviceList.pollInterval) }
                guard let line = try reader?.next() else {
                    list.ledger.ended()
                    return nil
                }
                guard let recipient = try recipient(on: line, reader?.lineNumber ?? 0) else { continue }
                if let rate = list.rate { try await pace(rate) }
                return recipient
            }
        }

        /// Waits until the next device is due; a delay of up to a tenth of a second is compensated.
        private func pace(_ rate: Int) async throws {
            due = Swift.max(due, ContinuousClock.now - .milliseconds(100)) + .seconds(1) / rate
            if due > ContinuousClock.now + .milliseconds(2) { try await Task.sleep(until: due) }
        }

        /// Returns the device of a line; nil if nothing is to be sent to it.
        private func recipient(on line: ArraySlice<UInt8>, _ number: Int) throws -> Recipient? {
            guard !line.isEmpty, try !isHeading(line, number) else { return nil }
            let format = format ?? .plain
            let row = try skippingBadLines(number) { () throws(UsageError) -> DeviceRow in try DeviceRow(line, format) }
            guard let row else { return nil }
            switch list.answered.answer(on: number, row.token) {
            case .sameDevice:
                list.ledger.noteAnsweredBefore()
                return nil
            case .otherDevice:
                throw UsageError(
                    "\(list.file.label), line \(number): was another device when it was answered: the list has changed "
                        + "since --results was written"
                )
            case nil: break
            }
            let recipient = try skippingBadLines(number) { () throws(UsageError) -> Recipient in
                try self.recipient(of: row)
            }
            if recipient != nil { list.ledger.read(line: number, bytesSoFar: reader?.byteCount ?? 0) }
            return recipient
        }

        /// Reads a part of a line; returns nil if it is invalid and invalid lines are skipped.
        private func skippingBadLines<Part>(_ number: Int, _ read: () throws(UsageError) -> Part) throws -> Part? {
            do throws(UsageError) {
                return try read()
            } catch {
                let line = BadLine(number: number, message: "\(error)")
                guard list.skipsBadLines else { throw BadLinesError(line, of: list.file) }
                list.ledger.noteBadLine(line)
                return nil
            }
        }

        /// Whether the line is the heading of a CSV list; the first line determines the format of the list.
        private func isHeading(_ line: ArraySlice<UInt8>, _ number: Int) throws -> Bool {
            guard format == nil else { return false }
            let first: (format: DeviceRow.Format, isHeading: Bool)
            do throws(UsageError) {
                first = try DeviceRow.Format.of(firstLine: line)
            } catch {
                throw BadLinesError(BadLine(number: number, message: "\(error)"), of: list.file)
            }
            format = first.format
            reader?.isCSV = first.isHeading
            let ignored = first.format.ignoredColumns
            if list.namesIgnoredColumns, !ignored.isEmpty {
                Terminal.errors.write("ignored columns of \(list.file.label): \(ignored.joined(separator: ", "))\n")
            }
            guard list.options.hasContent || first.format.canHaveContent else { throw NotificationOptions.noContent }
            return first.isHeading
        }

        /// Creates the push for a line.
        private func recipient(of row: DeviceRow) throws(UsageError) -> Recipient {
            guard !row.overrides.isEmpty || !list.options.hasContent else { return Recipient(row.token) }
            var options = list.options
            for override in row.overrides {
                do throws(UsageError) {
                    try options.set(override.name, to: override.value)
                } catch {
                    throw UsageError("\(row.place)\(override.name): \(error)")
                }
            }
            guard options.hasContent else {
                throw UsageError("has no content, and no option gives content to all devices")
            }
            return Recipient(row.token, notification: try options.notification())
        }
    }
}

/// The lines of a list that were answered in an earlier run, in four bytes per line.
struct AnsweredLines: Sendable {
    /// The hash of the token in each answered line; 0 for a line without an answer.
    private var hashes: [UInt32] = []
    private(set) var count = 0

    mutating func insert(_ line: Int, _ token: DeviceToken) {
        guard line > 0, line < 1 << 32 else { return }
        if line >= hashes.count {
            hashes.append(contentsOf: repeatElement(0, count: max(line + 1, 2 * hashes.count) - hashes.count))
        }
        if hashes[line] == 0 { count += 1 }
        hashes[line] = AnsweredLines.hash(token)
    }

    /// The result of comparing a line with the device that was answered there.
    enum Answer {
        case sameDevice
        /// The list has changed since the earlier run.
        case otherDevice
    }

    /// Compares the device that was answered on a line with this one; returns nil if none was.
    func answer(on line: Int, _ token: DeviceToken) -> Answer? {
        guard line < hashes.count, hashes[line] != 0 else { return nil }
        return hashes[line] == AnsweredLines.hash(token) ? .sameDevice : .otherDevice
    }

    /// Returns the FNV-1a hash of a token, but never 0.
    private static func hash(_ token: DeviceToken) -> UInt32 {
        max(1, token.hex.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 })
    }
}
