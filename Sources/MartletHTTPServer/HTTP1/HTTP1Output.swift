// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The output of a connection: encodes one response at a time and holds the bytes that the socket has not taken yet.
struct HTTP1Output {
    /// The result of writing to the socket.
    enum Progress {
        /// The socket has taken everything.
        case complete
        /// The rest can be written when the socket is writable again.
        case mustWait
        /// The client has disconnected.
        case failed
    }

    /// The number of pending bytes from which on the writer of a streamed response waits.
    private static let limit = 64 * 1024
    /// The same while the request's body is arriving: many clients read nothing before they have sent everything.
    private static let limitWhileReading = 16 << 20

    /// The maximum size of a body that is copied behind its head, so that one system call writes both; a longer one is
    /// shared with the handler, which may use it for many clients.
    private static let longestCopiedBody = 16 * 1024

    /// Whether the connection stays open after the response.
    var keepsAlive = false
    private var isHTTP10 = false
    private var isHEAD = false
    private var bytes: [UInt8] = []
    private var written = 0
    /// The body of a whole response that is written after `bytes`.
    private var body: [UInt8] = []
    private var bodyWritten = 0
    /// Called when there is capacity for more output, or the connection is closed.
    private var whenWritable: (() -> Void)?

    /// Whether bytes wait for the socket.
    var isPending: Bool { written < bytes.count || bodyWritten < body.count }

    /// The size in bytes of a response that the client has not read completely.
    var heldByteCount: Int { isPending ? bytes.count + body.count : 0 }

    /// Prepares for the response to a request.
    mutating func prepare(for head: HTTP1RequestHead, isLast: Bool) {
        keepsAlive = head.keepsAlive && !isLast
        isHTTP10 = head.isHTTP10
        isHEAD = head.request.method == "HEAD"
    }

    /// Asks the client for the body of its request.
    mutating func askForBody() {
        bytes += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    }

    /// Adds a whole response, or status 500 when it cannot be encoded.
    mutating func add(_ response: HTTPResponse, date: String) {
        let canCarry = HTTP1ResponseHead.canCarry(response)
        let response = canCarry ? response : APIProblem(500, "the response cannot be sent").response
        let hasNoBody = response.status == 204 || response.status == 304
        add(status: response.status, response.fields, hasNoBody ? .none : .length(response.body.count), date)
        guard !isHEAD, !hasNoBody else { return }
        if response.body.count > HTTP1Output.longestCopiedBody { body = response.body } else { bytes += response.body }
    }

    /// Starts a response whose body follows in pieces.
    mutating func begin(_ fields: HTTPFields, date: String) {
        if isHTTP10 { keepsAlive = false }
        add(status: 200, fields, isHTTP10 ? .close : .chunked, date)
    }

    /// Adds a piece of the body, and stores a callback for when there is capacity for another.
    mutating func add(piece: [UInt8], then: @escaping () -> Void) {
        if !piece.isEmpty {
            if !isHTTP10 { bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) }
            bytes += piece
            if !isHTTP10 { bytes += Array("\r\n".utf8) }
        }
        whenWritable = then
    }

    /// Ends a response in pieces.
    mutating func finish() {
        if !isHTTP10 { bytes += Array("0\r\n\r\n".utf8) }
    }

    private mutating func add(status: Int, _ fields: HTTPFields, _ framing: HTTP1ResponseHead.Framing, _ date: String) {
        let head = HTTP1ResponseHead(
            status: status,
            fields: fields,
            framing: framing,
            keepsAlive: keepsAlive,
            isHTTP10: isHTTP10,
            date: date
        )
        bytes += head.bytes
    }

    /// Writes as much as the socket takes.
    ///
    /// - Parameters:
    ///   - transport: The transport of the connection.
    ///   - isReading: Whether the body of the request is still arriving.
    ///   - didMove: Called when the socket has taken bytes.
    /// - Returns: The progress.
    mutating func write(to transport: borrowing Transport, isReading: Bool, didMove: () -> Void) -> Progress {
        while isPending {
            let isHead = written < bytes.count
            let rest = isHead ? bytes[written...] : body[bodyWritten...]
            switch unsafe rest.withUnsafeBytes({ unsafe transport.write($0) }) {
            case .moved(let count):
                if isHead { written += count } else { bodyWritten += count }
                didMove()
            case .mustWait:
                if written > bytes.count / 2 {
                    bytes.removeFirst(written)
                    written = 0
                }
                let limit = isReading ? HTTP1Output.limitWhileReading : HTTP1Output.limit
                if bytes.count - written < limit { resumeWriter() }
                return .mustWait
            case .ended, .failed: return .failed
            }
        }
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * HTTP1Output.limit)
        written = 0
        body = []
        bodyWritten = 0
        return .complete
    }

    /// Calls the callback of the last piece.
    mutating func resumeWriter() {
        whenWritable.take()?()
    }
}
