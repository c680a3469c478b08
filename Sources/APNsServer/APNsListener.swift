internal import APNs
package import Wire

/// Listens where APNs would: the receiving half of the protocol, for whoever plays Apple's part.
///
/// The module `APNsServer` turns requests into values and answers into responses; what the answer is, the owner
/// decides. It lives on its event loop, with every connection.
package final class APNsListener {
    /// What an owner is told.
    package enum Event {
        /// A client has connected.
        case opened
        /// A client asks.
        case request(APNsRequest, APNsReply)
        /// The stream of a request has ended, with the tag of its ``APNsReply`` and the status of the answer that was
        /// written to the connection; 0 when none was, or not all of it.
        case served(tag: Int, status: Int)
        /// A request that was not reported has ended: its fields were too long, which the listener answers with this
        /// status, 431, or it broke HTTP/2 and its stream was reset, which is 0.
        case unreadable(status: Int, isMalformed: Bool)
        /// So many streams were refused because the client had too many open.
        case refused(Int)
        /// The client says that it will ask for nothing more.
        case goAway(HTTP2GoAway)
        /// The client has gone, for this reason; of one that did not get through the handshake this is all there is.
        case closed(WireError)
    }

    /// What clients are allowed.
    package struct Limits: Sendable {
        /// Streams a fresh connection may have open at once.
        package var initialStreams: UInt32
        /// Bytes of a body that are kept: enough to see that it is too long.
        package var bodyBytes: Int
        /// The size of a request's fields: names and values, and 32 bytes for each field (RFC 9113 §6.5.2).
        package var fieldBytes: Int

        /// Limits with these values; by default those seen from APNs, with one stream to begin with.
        package init(initialStreams: UInt32 = 1, bodyBytes: Int = 16 * 1024, fieldBytes: Int = 8_000) {
            self.initialStreams = initialStreams
            self.bodyBytes = bodyBytes
            self.fieldBytes = fieldBytes
        }
    }

    private let listener: HTTP2Listener
    private let clients: Clients

    /// The connections by what the HTTP/2 listener knows them as.
    private final class Clients {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        let numbering: ConnectionNumbering

        init(_ numbering: ConnectionNumbering) {
            self.numbering = numbering
        }

        func pass(
            _ event: HTTP2Connection.Event,
            of connection: HTTP2Connection,
            to onEvent: (ClientConnection, APNsListener.Event) -> Void
        ) {
            let key = ObjectIdentifier(connection)
            switch event {
            case .ready:
                let client = ClientConnection(id: numbering.next(), connection)
                connections[key] = client
                onEvent(client, .opened)
            case .request(let stream):
                guard let client = connections[key] else { return }
                onEvent(client, .request(APNsRequest(stream), APNsReply(connection, stream)))
            case .served(let stream, let isAnswered):
                guard let client = connections[key] else { return }
                let status = isAnswered ? stream.answerStatus : 0
                onEvent(
                    client,
                    stream.isReported
                        ? .served(tag: stream.tag, status: status)
                        : .unreadable(status: status, isMalformed: stream.isMalformed)
                )
            case .goAway(let goAway):
                guard let client = connections[key] else { return }
                onEvent(client, .goAway(goAway))
            case .closed(let reason):
                let client = connections.removeValue(forKey: key)
                onEvent(client ?? ClientConnection(id: numbering.next(), connection), .closed(reason))
            case .caughtUp:
                guard let client = connections[key], let count = client.takeRefusals() else { return }
                onEvent(client, .refused(count))
            case .settings, .pong, .ended:
                break
            }
        }
    }

    /// Binds and begins to accept.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any that is free.
    ///   - tls: The TLS settings; nil for HTTP/2 in the clear with prior knowledge.
    ///   - limits: What clients are allowed.
    ///   - loop: The loop to live on.
    ///   - numbering: The source of the connections' numbers, which several listeners on the loop may share.
    ///   - admits: Asked for each client that connects; one that is not admitted is dropped before the TLS handshake.
    ///   - onEvent: Told what clients do.
    /// - Throws: ``WireError`` of kind `.cannotListen` when the address is taken.
    package init(
        host: String,
        port: UInt16,
        tls: TLSContext?,
        limits: Limits,
        on loop: EventLoop,
        numbering: ConnectionNumbering = ConnectionNumbering(),
        admits: @escaping () -> Bool = { true },
        onEvent: @escaping (ClientConnection, Event) -> Void
    ) throws(WireError) {
        let clients = Clients(numbering)
        let configuration = HTTP2Listener.Configuration(
            tls: tls,
            limits: HTTP2Limits(
                concurrentStreams: limits.initialStreams,
                bodyBytes: limits.bodyBytes,
                fieldBytes: limits.fieldBytes
            )
        )
        listener = try HTTP2Listener(host: host, port: port, configuration: configuration, on: loop, admits: admits) {
            connection,
            event in
            clients.pass(event, of: connection, to: onEvent)
        }
        self.clients = clients
    }

    /// The port that is listened on.
    package var port: UInt16 { listener.port }

    /// Shows other TLS settings to whoever connects from now on.
    package func use(_ tls: TLSContext) {
        listener.use(tls)
    }

    /// Changes the number of streams in the first SETTINGS frame of connections that are accepted from now on.
    package func use(initialStreams: UInt32) {
        listener.use(concurrentStreams: initialStreams)
    }

    /// Stops accepting, lets open requests end within `grace`, then calls `completion`.
    package func close(grace: Duration, completion: @escaping () -> Void) {
        listener.close(grace: grace, completion: completion)
    }
}

/// The source of the numbers of connections; lives on the loop of the listeners that share it.
package final class ConnectionNumbering {
    private var last = 0

    /// A numbering that starts at 1.
    package init() {}

    fileprivate func next() -> Int {
        last += 1
        return last
    }
}

/// One client's connection, as its server sees it; lives on the listener's loop.
package final class ClientConnection {
    /// The number of the connection, from 1: in the order in which handshakes succeed or fail, on all listeners that
    /// share a ``ConnectionNumbering``.
    package let id: Int
    /// What the certificate that the client has shown says about itself; nil when it has shown none.
    package let certificate: CertificateFacts?
    /// What was agreed on in the TLS handshake; nil in the clear.
    package let security: TransportSecurity?
    private let connection: HTTP2Connection
    /// The refused streams that the owner has been told of.
    private var reportedRefusals = 0

    init(id: Int, _ connection: HTTP2Connection) {
        self.id = id
        self.connection = connection
        certificate = connection.peerCertificate
        security = connection.security
    }

    /// The client's address with its port.
    package var peer: String { connection.peer }

    /// How many streams are open.
    package var openStreamCount: Int { connection.openStreamCount }

    /// The number of streams that were refused because the client had too many open.
    package var refusedStreamCount: Int { connection.refusedStreamCount }

    /// The number of streams that were refused since the last call; nil for none.
    fileprivate func takeRefusals() -> Int? {
        let count = refusedStreamCount - reportedRefusals
        reportedRefusals += count
        return count > 0 ? count : nil
    }

    /// The number of streams that the client has reset.
    package var resetStreamCount: Int { connection.resetStreamCount }

    /// The last GOAWAY frame that was written to the client; nil when there was none.
    package var goAwaySent: HTTP2GoAway? { connection.goAwaySent }

    /// Changes how many streams the client may have open at once.
    package func allow(concurrentStreams: UInt32) {
        connection.allow(concurrentStreams: concurrentStreams)
    }

    /// Changes how many octets the client may send on a stream before it has to wait for more room.
    package func allow(octetsPerStream: UInt32) {
        connection.allow(octetsPerStream: octetsPerStream)
    }

    /// Takes no more streams; those up to `lastStreamID` still end in order, by default all there are.
    package func goAway(_ code: HTTP2ErrorCode, debugData: [UInt8], lastStreamID: Int32?) {
        connection.goAway(code, debugData: debugData, lastStreamID: lastStreamID)
    }

    /// Shuts down gracefully: announces a GOAWAY with the highest stream there can be, and sends one with the last
    /// stream when every stream under way has arrived.
    package func shutDown(debugData: [UInt8]) {
        connection.shutDown(debugData: debugData)
    }

    /// Ends the connection in order; what is open on it breaks.
    package func close() {
        connection.close(WireError(.closedLocally, "the server closed the connection"))
    }

    /// Ends the connection with a TCP reset.
    package func abort() {
        connection.abort()
    }
}
