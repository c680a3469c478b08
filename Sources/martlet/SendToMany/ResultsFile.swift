import APNsClient
import Commands
import Synchronization
import Wire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that lines are added to, and that holds whole lines however the program ends.
final class LineFile: Sendable {
    /// Bytes that are written together.
    private static let writeLength = 16 * 1024

    private let descriptor: CInt
    private let path: String
    private let pending = Mutex<[UInt8]>([])

    /// Opens the file behind its last whole line, or makes it anew.
    init(_ path: String, keeping length: Int?) throws(UsageError) {
        self.path = path
        // A device such as /dev/full, or a pipe, always exists, and has neither an end nor earlier lines.
        let isDevice = LineFile.isDevice(path)
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (length == nil && !isDevice ? O_EXCL : 0)
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            let hint = number == EEXIST ? "; give --resume to continue an interrupted run, or another file" : ""
            throw UsageError("\(FileError("created", path, number))" + hint)
        }
        guard !isDevice else { return }
        guard ftruncate(descriptor, off_t(length ?? 0)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw UsageError("\(FileError("written", path, errno))")
        }
    }

    private static func isDevice(_ path: String) -> Bool {
        var facts = stat()
        let kinds = [S_IFCHR, S_IFIFO]
        return unsafe stat(path, &facts) == 0 && kinds.contains(facts.st_mode & S_IFMT)
    }

    deinit {
        close(descriptor)
    }

    func append(_ line: some Sequence<UInt8>) throws(OutputFileError) {
        let isFull = pending.withLock { pending in
            pending.append(contentsOf: line)
            pending.append(UInt8(ascii: "\n"))
            return pending.count >= LineFile.writeLength
        }
        if isFull { try flush() }
    }

    /// Writes what was added.
    func flush() throws(OutputFileError) {
        let failure: CInt? = pending.withLock { pending in
            var rest = pending[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                let reason = errno
                guard count > 0 || reason == EINTR else { return reason }
                rest = rest.dropFirst(max(0, count))
            }
            pending.removeAll(keepingCapacity: true)
            return nil
        }
        if let failure { throw OutputFileError(description: "\(FileError("written", path, failure))") }
    }

    /// Writes what was added, and has it reach the disk.
    func finish() throws(OutputFileError) {
        try flush()
        fsync(descriptor)
    }
}

/// An output file that cannot be written any more.
struct OutputFileError: Error, CustomStringConvertible {
    let description: String
}

/// The answers, one JSON object per line; `--resume` reads them.
struct ResultsFile: Sendable {
    private let results: LineFile?
    private let dead: LineFile?

    /// Files to begin with, or those of an earlier run to go on with.
    init(_ options: SendManyOptions, answered: inout AnsweredLines) throws {
        guard options.isResumed else {
            results = try options.results.map { path throws(UsageError) in try LineFile(path, keeping: nil) }
            dead = try options.dead.map { path throws(UsageError) in try LineFile(path, keeping: nil) }
            return
        }
        guard let path = options.results else { throw UsageError("--resume needs --results") }
        // The dead are written anew from what is known, so that none is there twice.
        let dead = try options.dead.map { path throws(UsageError) in try LineFile(path, keeping: 0) }
        var wholeLength = 0
        var reader = try LineReader(InputFile(argument: path))
        while let line = try reader.next() {
            guard let entry = try? JSONReader.read(Array(line)), let number = entry["line"]?.integerValue,
                let token = entry["device-token"]?.stringValue.flatMap({ try? DeviceToken(hex: $0) })
            else { break }
            answered.insert(Int(number), token)
            if entry["status"]?.integerValue == 410 {
                try dead?.append(ResultsFile.dead(token, entry["timestamp"]?.integerValue))
            }
            wholeLength = reader.byteCount
        }
        self.dead = dead
        results = try LineFile(path, keeping: wholeLength)
    }

    func note(_ outcome: BulkOutcome, line: Int) throws(OutputFileError) {
        guard outcome.isFinal else { return }
        try results?.append(ResultsFile.entry(outcome, line: line))
        if let error = outcome.error, error.status == 410 {
            try dead?.append(ResultsFile.dead(outcome.token, error.unregisteredAt?.millisecondsSince1970))
        }
    }

    func flush() throws(OutputFileError) {
        try results?.flush()
        try dead?.flush()
    }

    func finish() throws(OutputFileError) {
        try results?.finish()
        try dead?.finish()
    }

    private static func entry(_ outcome: BulkOutcome, line: Int) -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("line", .number(JSONNumber(line))), .init("device-token", .string(outcome.token.hex)),
        ]
        switch outcome.result {
        case .success(let receipt):
            members.append(.init("status", 200))
            members.append(.init("apns-id", .string(receipt.id.description)))
            if let uniqueID = receipt.uniqueID { members.append(.init("apns-unique-id", .string(uniqueID))) }
        case .failure(let error):
            if let status = error.status { members.append(.init("status", .number(JSONNumber(status)))) }
            if let id = error.id { members.append(.init("apns-id", .string(id.description))) }
            members.append(.init("reason", .string(error.reason?.rawValue ?? error.code.description)))
            if let timestamp = error.unregisteredAt?.millisecondsSince1970 {
                members.append(.init("timestamp", .number(JSONNumber(timestamp))))
            }
        }
        return JSONValue.object(members).encoded()
    }

    /// A dead token, and when APNs last confirmed that it is, in milliseconds since 1970.
    private static func dead(_ token: DeviceToken, _ timestamp: Int64?) -> String.UTF8View {
        "\(token.hex),\(timestamp.map(String.init) ?? "")".utf8
    }
}
