import Commands
import Wire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a file line by line, in memory that does not grow with it.
struct LineReader: ~Copyable {
    /// A line is no longer, and a file that has longer ones is no list of devices.
    private static let lengthLimit = 64 * 1024

    private let descriptor: CInt
    private let file: InputFile
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// How long the file is; nil for a pipe.
    let length: Int?
    /// The number of the last line, counted from 1.
    private(set) var lineNumber = 0
    /// How many bytes have been used up, to tell how far one is.
    private(set) var byteCount = 0

    /// Opens the file; `-` is standard input.
    init(_ file: InputFile) throws(UsageError) {
        self.file = file
        descriptor = file.path == "-" ? 0 : unsafe open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LineReader.error(file, errno) }
        var facts = stat()
        let isRegular = unsafe fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        length = isRegular ? Int(facts.st_size) : nil
    }

    private static func error(_ file: InputFile, _ number: CInt) -> UsageError {
        UsageError("\(FileError("read", file.path, number))")
    }

    deinit {
        if descriptor > 0 { close(descriptor) }
    }

    /// Whether the next line has yet to be written by whoever is at the other end of the pipe.
    var mustWait: Bool {
        guard length == nil, !isAtEnd, !buffer[start...].contains(UInt8(ascii: "\n")) else { return false }
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 0
    }

    /// The next line without its end; nil when there are no more.
    mutating func next() throws(UsageError) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(upTo: end, endLength: 1)
            }
            guard !isAtEnd else {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return line(upTo: buffer.count, endLength: 0)
            }
            guard buffer.count - start <= LineReader.lengthLimit else {
                throw UsageError("line \(lineNumber + 1) of \(file.path) is longer than 64 KiB")
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            try fill()
        }
    }

    private mutating func line(upTo end: Int, endLength: Int) -> ArraySlice<UInt8> {
        lineNumber += 1
        byteCount += end + endLength - start
        let line = buffer[start..<end]
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
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
