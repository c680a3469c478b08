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

/// The output files of a bulk send: the answers, one JSON object per line, which `--resume` reads, and the unregistered
/// tokens.
struct ResultsFile: Sendable {
    /// The beginning of every line of results.
    private static let lineStart = Array(#"{"line":"#.utf8)

    /// The first line of the unregistered tokens, so that the list can be read with `--tokens`.
    private static let heading = "token,unregistered-at"

    private let results: LineFile?
    private let unregistered: LineFile?

    /// Creates the files, or continues those of an earlier run.
    ///
    /// A file of an earlier run is changed only if all of its lines are results, or unregistered tokens. Only a last
    /// line without a line feed, which a crash may leave behind, may be incomplete.
    ///
    /// - Parameters:
    ///   - options: The options, of which `list` is not nil.
    ///   - answered: Receives the lines that the earlier run has answered.
    /// - Throws: ``UsageError`` if a file cannot be used; then no file is changed or created.
    init(_ options: SendManyOptions, answered: inout AnsweredLines) throws {
        guard !options.isResumed || options.results != nil else { throw UsageError("--resume requires --results") }
        try ResultsFile.checkDifferent(options)
        if options.isResumed, let path = options.results { try ResultsFile.checkExists(path) }
        results = try options.results.map { path throws(UsageError) in
            try LineFile(path, option: "--results", isResumed: options.isResumed)
        }
        do {
            unregistered = try options.unregistered.map { path throws(UsageError) in
                try LineFile(
                    path,
                    option: "--unregistered-tokens",
                    isResumed: options.isResumed,
                    heading: ResultsFile.heading
                )
            }
        } catch {
            results?.removeIfEmpty()
            throw error
        }
        guard options.isResumed else { return }
        do {
            try resume(&answered)
        } catch {
            removeIfEmpty()
            throw error
        }
    }

    /// Checks that the list of devices and the output files are different files.
    private static func checkDifferent(_ options: SendManyOptions) throws(UsageError) {
        let list = options.list.flatMap { $0.isStandardInput ? FileIdentity(0) : FileIdentity($0.path) }
        let outputs = [("--results", options.results), ("--unregistered-tokens", options.unregistered)]
        for (option, path) in outputs {
            guard let path, let file = FileIdentity(path), file.isRegular, file == list else { continue }
            throw UsageError("\(option) \(ShownValue(path)) is the list of --tokens; give another file")
        }
        guard let results = options.results, let unregistered = options.unregistered else { return }
        let file = FileIdentity(results)
        guard
            results == unregistered
                ? file?.isRegular == false
                : file == nil || file?.isRegular == false
                    || file != FileIdentity(unregistered)
        else {
            throw UsageError(
                "--results and --unregistered-tokens name the same file, \(ShownValue(results)); give two files"
            )
        }
    }

    private static func checkExists(_ path: String) throws(UsageError) {
        guard let file = FileIdentity(path) else {
            throw UsageError(
                "--results \(FileError("read", path, ENOENT)); there is nothing to resume: leave out --resume to start"
                    + " a new run"
            )
        }
        guard file.isRegular else {
            throw UsageError(
                "--resume requires the file of an earlier run; --results \(ShownValue(path)) is not a regular file"
            )
        }
    }

    /// Reads the answers of an earlier run, and rewrites the file of unregistered tokens, so that none is listed twice.
    private func resume(_ answered: inout AnsweredLines) throws {
        guard let results else { return }
        if let unregistered { try ResultsFile.checkIsTokenFile(unregistered.path) }
        var lines: [String] = []
        let whole = try ResultsFile.wholeLines(of: results.path, "--results", "results of an earlier run") { line in
            guard let entry = try? JSONReader.read(Array(line)), let number = entry["line"]?.integerValue, number > 0,
                let token = entry["device-token"]?.stringValue.flatMap({ try? DeviceToken(hex: $0) }),
                entry["status"] != nil || entry["reason"] != nil
            else { return false }
            answered.insert(Int(number), token)
            if unregistered != nil, entry["status"]?.integerValue == 410 {
                lines.append(ResultsFile.line(token, entry["unregistered-at"]?.integerValue))
            }
            return true
        } isIncomplete: { line, _ in
            zip(line, ResultsFile.lineStart).allSatisfy(==)
        }
        try results.truncate(to: whole.length)
        if !whole.isTerminated { try results.append([]) }
        try unregistered?.truncate(to: 0)
        for line in lines { try unregistered?.append(line.utf8) }
        // A run that stops before sending, because the list has changed, must not lose these lines.
        try flush()
    }

    private static func checkIsTokenFile(_ path: String) throws(UsageError) {
        guard FileIdentity(path)?.isRegular == true else { return }
        _ = try wholeLines(of: path, "--unregistered-tokens", "unregistered tokens of an earlier run") { line in
            if line.elementsEqual(ResultsFile.heading.utf8) { return true }
            let parts = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            return parts.count == 2 && parts[1].allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
                && (try? DeviceToken(hex: String(decoding: parts[0], as: UTF8.self))) != nil
        } isIncomplete: { line, length in
            // A single token without a comma may be a list of one device.
            length > 0 || ResultsFile.heading.utf8.starts(with: line)
        }
    }

    /// Returns the length of a file without an incomplete last line, and whether a line feed ends the last whole line.
    ///
    /// - Throws: ``UsageError`` if a line is invalid.
    private static func wholeLines(
        of path: String,
        _ option: String,
        _ content: String,
        isValid: (ArraySlice<UInt8>) -> Bool,
        isIncomplete: (ArraySlice<UInt8>, _ length: Int) -> Bool
    ) throws(UsageError) -> (length: Int, isTerminated: Bool) {
        let file = InputFile(argument: path, source: option)
        var reader = try LineReader(file)
        reader.isCSV = false
        var length = 0
        while let line = try reader.next() {
            guard isValid(line) else {
                if !reader.isTerminated, isIncomplete(line, length) { return (length, true) }
                throw UsageError(
                    "\(file.label) does not contain \(content) (line \(reader.lineNumber)); it was not changed; "
                        + "give the file that the interrupted run wrote"
                )
            }
            length = reader.byteCount
        }
        return (length, reader.isTerminated)
    }

    // MARK: Writing

    func note(_ outcome: BulkOutcome, line: Int) throws(CommandError) {
        guard outcome.isFinal else { return }
        try results?.append(ResultsFile.entry(outcome, line: line))
        if let error = outcome.error, error.advice == .forgetToken {
            try unregistered?.append(ResultsFile.line(outcome.token, error.unregisteredAt?.millisecondsSince1970).utf8)
        }
    }

    func flush() throws(CommandError) {
        try results?.flush()
        try unregistered?.flush()
    }

    func finish() throws(CommandError) {
        try results?.finish()
        try unregistered?.finish()
    }

    /// Removes the files that this run created and has not written to.
    func removeIfEmpty() {
        results?.removeIfEmpty()
        unregistered?.removeIfEmpty()
    }

    private static func entry(_ outcome: BulkOutcome, line: Int) -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("line", .integer(line)), .init("device-token", .string(outcome.token.hex)),
        ]
        switch outcome.result {
        case .success(let receipt):
            members.append(.init("status", 200))
            members.append(.init("apns-id", .string(receipt.id.description)))
            if let uniqueID = receipt.uniqueID { members.append(.init("apns-unique-id", .string(uniqueID))) }
        case .failure(let error):
            if let status = error.status { members.append(.init("status", .integer(status))) }
            if let id = error.id { members.append(.init("apns-id", .string(id.description))) }
            members.append(.init("reason", .string(error.reason?.rawValue ?? error.code.description)))
            if let time = error.unregisteredAt?.millisecondsSince1970 {
                members.append(.init("unregistered-at", .integer(time)))
            }
        }
        return JSONValue.object(members).encoded()
    }

    /// Formats an unregistered token with the time at which APNs last confirmed that, in milliseconds since 1970.
    private static func line(_ token: DeviceToken, _ time: Int64?) -> String {
        "\(token.hex),\(time.map(String.init) ?? "")"
    }
}
