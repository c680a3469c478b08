internal import MartletHTTPServer
internal import MartletTransport

/// A reader of the lines of a complete or arriving body; empty lines are skipped.
struct LineReader {
    /// An error that ends reading early.
    enum Failure: Error {
        case brokenOff
        case lineTooLong

        /// The problem that the client receives; nil when the client has gone.
        var problem: APIProblem? {
            switch self {
            case .brokenOff: nil
            case .lineTooLong: APIProblem(413, "a line is longer than \(LineReader.longestLine) bytes")
            }
        }
    }

    /// The maximum size of a line in bytes, enough for a push to the longest list of tokens.
    private static let longestLine = 2 << 20

    private var bytes: [UInt8]
    private var start = 0
    private var searched = 0
    private var stream: HTTP1Body.Iterator?

    /// Creates a reader of a complete body, or of the stream that replaces it.
    init(_ body: [UInt8], _ stream: HTTP1Body?) {
        bytes = body
        self.stream = stream?.makeAsyncIterator()
    }

    /// Returns the next line; nil at the end, and when `count` is positive and no complete line has arrived.
    mutating func next(after count: Int) async throws(Failure) -> [UInt8]? {
        while true {
            if let line = takeLine() {
                if !line.isEmpty { return line }
                continue
            }
            guard bytes.count - start <= LineReader.longestLine else { throw .lineTooLong }
            if count > 0, stream != nil { return nil }
            guard let piece = try await nextPiece() else {
                defer { start = bytes.count }
                return start < bytes.count ? Array(bytes[start...]) : nil
            }
            bytes.removeFirst(start)
            searched -= start
            start = 0
            bytes += piece
        }
    }

    private mutating func takeLine() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            return nil
        }
        defer {
            start = end + 1
            searched = start
        }
        return Array(bytes[start..<end])
    }

    private mutating func nextPiece() async throws(Failure) -> [UInt8]? {
        do {
            guard let piece = try await stream?.next() else {
                stream = nil
                return nil
            }
            return piece
        } catch {
            throw .brokenOff
        }
    }
}
