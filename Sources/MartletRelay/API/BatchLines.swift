// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// A reader of the lines of a complete or arriving body; a line ends with LF or CRLF, and empty lines are skipped.
struct BatchLines {
    /// An error that ends reading early.
    enum Failure: Error {
        case brokenOff
        case lineTooLong

        /// The problem that the client receives; nil when the client has disconnected.
        var problem: APIProblem? {
            switch self {
            case .brokenOff: nil
            case .lineTooLong: APIProblem(413, "a line is longer than \(BatchLines.longestLine) bytes")
            }
        }
    }

    /// The maximum size of a line in bytes, enough for a push to the longest list of tokens.
    private static let longestLine = 2 << 20

    private var bytes: [UInt8]
    private var start = 0
    private var searched = 0
    private var stream: HTTP1Body.Iterator?
    /// The number of the last line, counted from 1, with empty lines.
    private(set) var lineNumber = 0

    /// Creates a reader of a complete body, or of the stream that replaces it.
    init(_ body: [UInt8], _ stream: HTTP1Body?) {
        bytes = body
        self.stream = stream?.makeAsyncIterator()
    }

    /// Returns the next line; nil at the end, and when the `count` lines before have to be handled first.
    mutating func next(after count: Int) async throws(Failure) -> [UInt8]? {
        while true {
            let lineFeed = bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
            searched = lineFeed ?? bytes.count
            let hasReturn = searched > start && bytes[searched - 1] == UInt8(ascii: "\r")
            let line = start..<(hasReturn ? searched - 1 : searched)
            guard line.count <= BatchLines.longestLine else {
                guard count == 0 else { return nil }
                throw .lineTooLong
            }
            if lineFeed == nil {
                if count > 0, stream != nil { return nil }
                if let piece = try await nextPiece() {
                    bytes.removeFirst(start)
                    searched -= start
                    start = 0
                    bytes += piece
                    continue
                }
            }
            start = min(searched + 1, bytes.count)
            searched = start
            lineNumber += 1
            if !line.isEmpty { return Array(bytes[line]) }
            if lineFeed == nil { return nil }
        }
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

    // MARK: JSON

    /// Returns a line as JSON.
    static func json(of line: [UInt8]) throws(APIProblem) -> JSONValue {
        try json(of: Result { () throws(JSONError) in try JSONReader.read(line) })
    }

    /// Returns the JSON of a parsed line; its error becomes a problem.
    static func json(of line: Result<JSONValue, JSONError>) throws(APIProblem) -> JSONValue {
        do throws(JSONError) {
            return try line.get()
        } catch {
            throw APIProblem(400, "the line \(error.rule): \(error)", at: "")
        }
    }
}

extension APICall<RelayAPI.Service> {
    /// Parses a line of the body; a long one waits for its turn among the long requests.
    func json(ofLine line: [UInt8]) async -> Result<JSONValue, JSONError> {
        guard line.count < LongRequests.leastByteCount else {
            return await parts.longRequests.parse(line, for: caller.name)
        }
        return Result { () throws(JSONError) in try JSONReader.read(line) }
    }
}
