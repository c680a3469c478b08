internal import CMicroHTTPD
internal import Synchronization

/// One HTTP/1.1 request on its way to an answer.
///
/// libmicrohttpd calls back on its own thread: when the target is known, then when the headers are there, for each
/// piece of the body, when the request is complete, and when a resting connection has been woken.
///
/// It is `@unchecked Sendable` because the request is touched only on libmicrohttpd's thread, and what the handler's
/// task shares with that thread, the resting connection and the response, is touched only under the lock of
/// ``HTTP1Listener/Context/resting``.
final class HTTP1Exchange: @unchecked Sendable {
    private let target: String
    private var request: HTTPRequest?
    /// Bytes of the body beyond the bound, which are dropped.
    private var excess = 0
    /// Whether there was no room for the body beside those of others.
    private var isCrowdedOut = false
    /// The connection, while it rests.
    private var connection: OpaquePointer?
    private var answer: HTTP1Answer?
    /// Whether the request is counted among the unfinished ones.
    private var isCounted = false

    private init(target: String) {
        self.target = target
    }

    // MARK: Called by libmicrohttpd

    /// The request line is there; what is returned comes back with every later call.
    static func began(_ target: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
        let target = target.map { String(cString: $0) } ?? "/"
        return Unmanaged.passRetained(HTTP1Exchange(target: target)).toOpaque()
    }

    /// The request is over, whether it was answered or not.
    static func completed(
        _ context: UnsafeMutableRawPointer?,
        _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) {
        guard let context, let pointer = exchange?.pointee else { return }
        exchange?.pointee = nil
        let listener = Unmanaged<HTTP1Listener.Context>.fromOpaque(context).takeUnretainedValue()
        let exchangeObject = Unmanaged<HTTP1Exchange>.fromOpaque(pointer).takeRetainedValue()
        exchangeObject.dropBody(for: listener)
        listener.resting.withLock { if exchangeObject.isCounted { $0.finishRequest() } }
    }

    /// Headers, a piece of the body, the end of the request, or a wake-up.
    static func access(
        _ context: UnsafeMutableRawPointer?,
        _ connection: OpaquePointer?,
        _ method: UnsafePointer<CChar>?,
        _ upload: UnsafePointer<CChar>?,
        _ uploadSize: UnsafeMutablePointer<Int>?,
        _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let context, let connection, let method, let uploadSize, let exchange = exchange?.pointee else {
            return .NO
        }
        let listener = Unmanaged<HTTP1Listener.Context>.fromOpaque(context).takeUnretainedValue()
        let exchangeObject = Unmanaged<HTTP1Exchange>.fromOpaque(exchange).takeUnretainedValue()
        let piece = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
        uploadSize.pointee = 0
        return exchangeObject.proceed(connection, String(cString: method), piece, for: listener)
    }

    private func proceed(
        _ connection: OpaquePointer,
        _ method: String,
        _ piece: UnsafeRawBufferPointer,
        for listener: HTTP1Listener.Context
    ) -> MHD_Result {
        if let answer = listener.resting.withLock({ _ in answer }) {
            // An answer that goes on keeps its place.
            if case .whole = answer { listener.places.withLock { $0.answered(UInt(bitPattern: connection), at: .now) } }
            return send(answer, on: connection, for: listener)
        }
        guard let request else { return begin(method, on: connection, for: listener) }
        guard piece.isEmpty else { return take(piece, for: listener) }
        guard excess == 0 else { return queue(.tooLarge(listener.limits.bodyBytes), on: connection) }
        guard !isCrowdedOut else { return queue(.crowded, on: connection) }
        listener.places.withLock { $0.rests(UInt(bitPattern: connection)) }
        guard rest(connection, for: listener) else { return queue(.unavailable, on: connection) }
        Task {
            let answer = await listener.handler(request)
            listener.resting.withLock { resting in
                // Gone when the listener has stopped meanwhile.
                guard resting.exchanges.removeValue(forKey: ObjectIdentifier(self)) != nil else { return }
                self.wake(with: answer)
            }
        }
        return .YES
    }

    // MARK: The request

    /// Notes what is known when the headers are there.
    private func begin(
        _ method: String,
        on connection: OpaquePointer,
        for listener: HTTP1Listener.Context
    ) -> MHD_Result {
        var fields = HTTPFields()
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values(
                connection,
                .HEADER_KIND,
                { fields, _, name, value in
                    guard let name, let fields = fields?.assumingMemoryBound(to: HTTPFields.self) else { return .YES }
                    fields.pointee.append(String(cString: name).lowercased(), value.map { String(cString: $0) } ?? "")
                    return .YES
                },
                fields
            )
        }
        let request = HTTPRequest(
            method: method,
            scheme: "http",
            authority: fields["host"] ?? "",
            target: target,
            fields: fields
        )
        self.request = request
        let limits = listener.limits
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        guard length <= limits.bodyBytes else { return queue(.tooLarge(limits.bodyBytes), on: connection) }
        if let refusal = listener.refusal(request) { return queue(refusal, on: connection) }
        let hasRoom = listener.bodyBytes.withLock { $0 + length <= limits.bodyBytesTogether }
        return hasRoom ? .YES : queue(.crowded, on: connection)
    }

    /// Keeps a piece of the body as far as the bound allows.
    ///
    /// A body of undeclared length can only be answered at its end; one that goes on long after the bound is cut off.
    private func take(_ piece: UnsafeRawBufferPointer, for listener: HTTP1Listener.Context) -> MHD_Result {
        let limits = listener.limits
        let kept = piece.prefix(limits.bodyBytes - (request?.body.count ?? 0))
        excess += piece.count - kept.count
        let hasRoom = listener.bodyBytes.withLock { bytes in
            guard !isCrowdedOut, bytes + kept.count <= limits.bodyBytesTogether else { return false }
            bytes += kept.count
            return true
        }
        if hasRoom {
            request?.body.append(contentsOf: kept)
        } else {
            isCrowdedOut = true
            dropBody(for: listener)
        }
        return excess > limits.bodyBytes ? .NO : .YES
    }

    /// Gives the room for the body to others.
    private func dropBody(for listener: HTTP1Listener.Context) {
        let count = request?.body.count ?? 0
        listener.bodyBytes.withLock { $0 -= count }
        request?.body = []
    }

    // MARK: The answer

    /// Has the connection rest until ``wake(with:)``; false when the listener is stopping.
    private func rest(_ connection: OpaquePointer, for listener: HTTP1Listener.Context) -> Bool {
        // Unchecked, and safe because libmicrohttpd keeps the connection until it is resumed, and only whoever holds
        // this lock touches it.
        nonisolated(unsafe) let resting = connection
        return listener.resting.withLock { state in
            guard !state.isStopping else { return false }
            MHD_suspend_connection(resting)
            self.connection = resting
            state.exchanges[ObjectIdentifier(self)] = self
            state.unfinishedCount += 1
            isCounted = true
            return true
        }
    }

    /// Wakes the resting connection with its answer; the caller holds the lock.
    func wake(with answer: HTTP1Answer) {
        self.answer = answer
        MHD_resume_connection(connection.take())
    }

    private func send(
        _ answer: HTTP1Answer,
        on connection: OpaquePointer,
        for listener: HTTP1Listener.Context
    ) -> MHD_Result {
        switch answer {
        case .whole(let response): queue(response, on: connection)
        case .pieces(let fields, let pieces): queue(fields, pieces, on: connection, for: listener)
        }
    }

    private func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let response = response.isHTTP1 ? response : HTTPResponse(status: 500, text: "The answer cannot be sent.\n")
        let made = response.body.withUnsafeBytes { body in
            MHD_create_response_from_buffer(
                body.count,
                UnsafeMutableRawPointer(mutating: body.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
        return queue(made, response.fields, status: response.status, on: connection)
    }

    private func queue(
        _ fields: HTTPFields,
        _ pieces: any AsyncSequence<[UInt8], Never> & Sendable,
        on connection: OpaquePointer,
        for listener: HTTP1Listener.Context
    ) -> MHD_Result {
        let stream = HTTP1Stream(on: connection)
        let isTaken = listener.resting.withLock { resting in
            if !resting.isStopping { resting.streams[ObjectIdentifier(stream)] = stream }
            return !resting.isStopping
        }
        guard isTaken else { return queue(.unavailable, on: connection) }
        let writer = Task {
            for await piece in pieces {
                guard await stream.write(piece) else { break }
            }
            stream.finish()
        }
        let made = stream.response {
            writer.cancel()
            listener.resting.withLock { $0.streams[ObjectIdentifier(stream)] = nil }
        }
        return queue(made, fields, status: 200, on: connection)
    }

    private func queue(
        _ made: OpaquePointer?,
        _ fields: HTTPFields,
        status: Int,
        on connection: OpaquePointer
    ) -> MHD_Result {
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        // libmicrohttpd counts the body itself.
        for (name, value) in fields where !name.hasPrefix(":") && name != "content-length" {
            MHD_add_response_header(made, name, value)
        }
        return MHD_queue_response(connection, UInt32(status), made)
    }
}

extension HTTPResponse {
    /// The answer to a body beyond the bound.
    fileprivate static func tooLarge(_ limit: Int) -> HTTPResponse {
        HTTPResponse(status: 413, text: "The body is longer than the \(limit) bytes allowed here.\n")
    }

    /// The answer to a body for which there is no room beside those of others.
    fileprivate static var crowded: HTTPResponse {
        var response = HTTPResponse(status: 503, text: "Too much is being read at the moment.\n")
        response.fields.append("retry-after", "1")
        return response
    }

    /// The answer to whoever is there when the listener stops.
    static var unavailable: HTTPResponse {
        HTTPResponse(status: 503, text: "The server is stopping.\n")
    }

    fileprivate init(status: Int, text: String) {
        self.init(status: status, fields: ["content-type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// Whether the response can be written as HTTP/1.1 (RFC 9110 §5.1, §5.5 and §15).
    fileprivate var isHTTP1: Bool {
        (200...999).contains(status)
            && fields.allSatisfy { name, value in
                name.utf8.first == UInt8(ascii: ":")
                    || name.utf8.allSatisfy(\.isTokenCharacter) && !name.isEmpty
                        && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            }
    }
}

extension UInt8 {
    /// Whether the byte may stand in a field's name.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
