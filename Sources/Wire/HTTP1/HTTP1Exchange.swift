internal import CMicroHTTPD
internal import Synchronization

/// One HTTP/1.1 request on its way to an answer.
///
/// libmicrohttpd calls back on its own thread: when the target is known, then when the headers are there, for each
/// piece of the body, when the request is complete, and when a resting connection has been woken.
///
/// It is `@unchecked Sendable` because the request is touched only on libmicrohttpd's thread until the handler has it,
/// and what the handler's task and that thread share is behind the mutex.
final class HTTP1Exchange: @unchecked Sendable {
    private enum State {
        case receiving
        /// The connection rests until the handler has answered.
        case waiting(ConnectionReference)
        case answered(HTTPResponse)
    }

    /// A connection that rests.
    ///
    /// It is `@unchecked Sendable` because all that is done with it is to wake it, which any thread may.
    private struct ConnectionReference: @unchecked Sendable {
        let raw: OpaquePointer
    }

    private let target: String
    private var request: HTTPRequest?
    private let state = Mutex(State.receiving)

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
    static func completed(_ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
        guard let pointer = exchange?.pointee else { return }
        exchange?.pointee = nil
        Unmanaged<HTTP1Exchange>.fromOpaque(pointer).release()
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
        if case .answered(let response) = state.withLock({ $0 }) { return HTTP1Exchange.queue(response, on: connection) }
        guard var request else {
            let request = HTTP1Exchange.request(method, target, connection)
            self.request = request
            let length = request.fields["content-length"].flatMap { Int($0) } ?? 0
            return length > listener.limits.bodyBytes
                ? HTTP1Exchange.queue(HTTPResponse(status: 413), on: connection) : .YES
        }
        guard piece.isEmpty else {
            self.request = nil
            request.body.append(contentsOf: piece)
            self.request = request
            // Without a declared length there is no place for an answer in the middle of a body.
            return request.body.count > listener.limits.bodyBytes ? .NO : .YES
        }
        rest(connection, listener)
        Task { [request] in
            let response = await listener.handler(request)
            if listener.waiting.withLock({ $0.removeValue(forKey: ObjectIdentifier(self)) }) != nil {
                self.answer(with: response)
            }
        }
        return .YES
    }

    private func rest(_ connection: OpaquePointer, _ listener: HTTP1Listener.Context) {
        MHD_suspend_connection(connection)
        let reference = ConnectionReference(raw: connection)
        state.withLock { $0 = .waiting(reference) }
        listener.waiting.withLock { $0[ObjectIdentifier(self)] = self }
    }

    // MARK: Answering

    /// Wakes the connection with its answer; only the first answer counts.
    func answer(with response: HTTPResponse) {
        let connection: ConnectionReference? = state.withLock { state in
            guard case .waiting(let connection) = state else { return nil }
            state = .answered(response)
            return connection
        }
        if let connection { MHD_resume_connection(connection.raw) }
    }

    private static func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let made = response.body.withUnsafeBytes { body in
            MHD_create_response_from_buffer(
                body.count,
                UnsafeMutableRawPointer(mutating: body.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.fields where !name.hasPrefix(":") {
            MHD_add_response_header(made, name, value)
        }
        return MHD_queue_response(connection, UInt32(clamping: response.status), made)
    }

    /// What is known when the headers are there.
    private static func request(_ method: String, _ target: String, _ connection: OpaquePointer) -> HTTPRequest {
        var fields = HTTPFields()
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values(connection, .HEADER_KIND, { fields, _, name, value in
                guard let name, let fields = fields?.assumingMemoryBound(to: HTTPFields.self) else { return .YES }
                fields.pointee.append(String(cString: name).lowercased(), value.map { String(cString: $0) } ?? "")
                return .YES
            }, fields)
        }
        return HTTPRequest(
            method: method,
            scheme: "http",
            authority: fields["host"] ?? "",
            target: target,
            fields: fields
        )
    }
}
