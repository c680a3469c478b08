internal import WebAPI
internal import Wire

/// Takes the lines of a body that is there or still arrives; empty lines are skipped.
struct LineReader {
    /// An error that ends a body before its end.
    enum Failure: Error {
        case brokenOff
        case lineTooLong

        /// The problem that the client is told, if it is still there.
        var problem: APIProblem? {
            switch self {
            case .brokenOff: nil
            case .lineTooLong: APIProblem(413, "a line is longer than \(LineReader.longestLine) bytes")
            }
        }
    }

    /// Bytes of a line: a push to the longest list of tokens.
    private static let longestLine = 2 << 20

    private var bytes: [UInt8]
    private var start = 0
    private var searched = 0
    private var stream: HTTP1Body.Iterator?

    /// A reader of a body, or of the stream that stands for it.
    init(_ body: [UInt8], _ stream: HTTP1Body?) {
        bytes = body
        self.stream = stream?.makeAsyncIterator()
    }

    /// Returns the next line; nil at the end, and when there are `count` lines already and none is there at once.
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
