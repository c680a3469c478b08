// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletTransport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A reader that returns a file record by record, with memory use that does not depend on the length of the file.
///
/// A record is a line, or in CSV several lines when a field in quotation marks contains line feeds (RFC 4180 §2.6).
struct LineReader: ~Copyable {
    /// The maximum length of a record; a file with longer records is not a list of devices.
    private static let lengthLimit = 64 * 1024
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let descriptor: CInt
    private let file: InputFile
    private var buffer: [UInt8] = []
    /// The index of the next record in the buffer.
    private var start = 0
    private var isAtEnd = false
    /// The index of the first byte that has not been searched for the end of the next record.
    private var searched = 0
    private var scanner = CSVScanner()
    /// The index of the line feed that ends the next record; nil if it has not been found.
    private var end: Int?
    /// Whether a line feed inside quotation marks continues a record; nil to decide by the first byte of each record.
    var isCSV: Bool?
    /// The length of the file; nil for a pipe.
    let length: Int?
    /// The number of lines that have been read.
    private var lineCount = 0
    /// The number of the first line of the last record, counted from 1.
    private(set) var lineNumber = 0
    /// The number of bytes that have been read, from which the progress is computed.
    private(set) var byteCount = 0
    /// Whether a line feed ends the last record.
    private(set) var isTerminated = true

    /// Opens the file; `-` is standard input.
    init(_ file: InputFile) throws(UsageError) {
        self.file = file
        descriptor = file.path == "-" ? 0 : unsafe open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LineReader.error(file, errno) }
        length = FileIdentity(descriptor).flatMap { $0.isRegular ? $0.length : nil }
    }

    private static func error(_ file: InputFile, _ number: CInt) -> UsageError {
        file.usageError(FileError("read", file.path, number))
    }

    deinit {
        if descriptor > 0 { close(descriptor) }
    }

    /// Whether to wait before `next()`: the buffer has no complete record, and the pipe is open and has no data to
    /// read.
    var mustWait: Bool {
        mutating get {
            guard length == nil, !isAtEnd, findEnd() == nil else { return false }
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&state, 1, 0) == 0
        }
    }

    /// Returns the next record without its line end; nil at the end of the file.
    ///
    /// - Throws: ``UsageError`` if the file cannot be read, a record is too long, or a quotation mark is not closed.
    mutating func next() throws(UsageError) -> ArraySlice<UInt8>? {
        while true {
            if let end = findEnd() { return record(upTo: end, endLength: 1) }
            guard !isAtEnd else {
                guard start < buffer.count else { return nil }
                guard !scanner.isInsideQuotes else { throw unclosedQuote("before the end of the list") }
                return record(upTo: buffer.count, endLength: 0)
            }
            guard buffer.count - start <= LineReader.lengthLimit else {
                guard !scanner.isInsideQuotes else { throw unclosedQuote("within 64 KiB") }
                throw UsageError("\(file.label), line \(lineCount + 1): is longer than 64 KiB")
            }
            buffer.removeFirst(start)
            searched -= start
            start = 0
            try fill()
        }
    }

    private func unclosedQuote(_ limit: String) -> UsageError {
        UsageError("\(file.label), line \(lineCount + 1): has a quotation mark that is not closed \(limit)")
    }

    /// Returns the index of the line feed that ends the next record; nil if the buffer does not contain it.
    private mutating func findEnd() -> Int? {
        skipByteOrderMark()
        guard end == nil, start < buffer.count else { return end }
        guard isCSV ?? (buffer[start] != UInt8(ascii: "{")) else {
            end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            searched = buffer.count
            return end
        }
        while end == nil, searched < buffer.count {
            if scanner.read(buffer[searched]) == .end { end = searched }
            searched += 1
        }
        return end
    }

    /// Skips the byte order mark that Excel writes at the beginning of a file.
    private mutating func skipByteOrderMark() {
        guard byteCount == 0, start == 0, buffer.starts(with: LineReader.byteOrderMark) else { return }
        start = LineReader.byteOrderMark.count
        searched = start
        scanner = CSVScanner()
        end = nil
        byteCount = start
    }

    private mutating func record(upTo end: Int, endLength: Int) -> ArraySlice<UInt8> {
        let record = buffer[start..<end]
        lineNumber = lineCount + 1
        lineCount += 1
        if isCSV != false { lineCount += record.count { $0 == UInt8(ascii: "\n") } }
        byteCount += record.count + endLength
        isTerminated = endLength > 0
        start = end + endLength
        searched = start
        scanner = CSVScanner()
        self.end = nil
        return record.last == UInt8(ascii: "\r") ? record.dropLast() : record
    }

    private mutating func fill() throws(UsageError) {
        let used = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: 64 * 1024))
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe read(descriptor, bytes.baseAddress?.advanced(by: used), bytes.count - used)
        }
        let reason = errno
        buffer.removeLast(buffer.count - used - max(0, count))
        guard count >= 0 || reason == EINTR else { throw LineReader.error(file, reason) }
        isAtEnd = count == 0
    }
}
