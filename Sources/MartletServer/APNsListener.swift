// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletTransport

/// A server socket for APNs requests: the receiving side of the protocol, for servers that stand in for APNs.
///
/// The module `MartletServer` parses requests into values and encodes responses; the owner decides on the responses.
/// The listener and all its connections are used only on its event loop.
package final class APNsListener {
    /// An event that a listener reports to its owner.
    package enum Event {
        /// A client has connected.
        case opened
        /// A client has sent a request.
        case request(APNsRequest, APNsReply)
        /// The stream of a request has ended, with the tag of its ``APNsReply`` and the status of the response that was
        /// written to the connection; 0 when none was written, or not completely.
        case served(tag: Int, status: Int)
        /// A request that was not reported has ended: its fields were too long, which the listener answers with this
        /// status, 431, or it violated HTTP/2 and its stream was reset, in which case the status is 0.
        case unreadable(status: Int, isMalformed: Bool)
        /// This number of streams was refused because the client had too many open, or too many responses were pending.
        case refused(Int)
        /// The client has announced that it sends no further requests.
        case goAway(HTTP2GoAway)
        /// The connection has ended for this reason; this is the only event when the handshake failed.
        case closed(TransportError)
    }

    /// The limits for clients.
    package struct Limits: Sendable {
        /// The number of streams that a new connection may have open at once.
        package var initialStreams: UInt32
        /// The maximum size in bytes of a stored body, which suffices to detect one that is too long.
        package var bodyBytes: Int
        /// The maximum size of a request's fields: names and values, and 32 bytes for each field (RFC 9113 §6.5.2).
        package var fieldBytes: Int

        /// Creates limits with these values; by default those observed from APNs, with one initial stream.
        package init(initialStreams: UInt32 = 1, bodyBytes: Int = 16 * 1024, fieldBytes: Int = 8_000) {
            self.initialStreams = initialStreams
            self.bodyBytes = bodyBytes
            self.fieldBytes = fieldBytes
        }
    }

    private let listener: HTTP2Listener
    private let clients: Clients

    /// The clients, by the identity of their HTTP/2 connections.
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
                let request = APNsRequest(stream)
                stream.releaseBody()
                onEvent(client, .request(request, APNsReply(connection, stream)))
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

    /// Binds the address and starts accepting connections.
    ///
    /// - Parameters:
    ///   - host: An address literal, or `localhost` for both loopback addresses.
    ///   - port: The port, or 0 for any free port.
    ///   - tls: The TLS settings; nil for HTTP/2 in cleartext with prior knowledge.
    ///   - limits: The limits for clients.
    ///   - loop: The event loop of the listener and all connections.
    ///   - numbering: The source of the connections' numbers, which several listeners on the loop may share.
    ///   - admits: Called for each client that connects; returns false to close the connection before the TLS
    ///     handshake.
    ///   - onFull: Called at most once a second while a new client needs the place of another.
    ///   - onExcess: Called when connections are closed because their incomplete requests and unread responses take too
    ///     much memory.
    ///   - onEvent: Called for each event of each connection.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, or
    ///   `.addressNotAvailable` when it is not an address of this machine.
    package init(
        host: String,
        port: UInt16,
        tls: TLSContext?,
        limits: Limits,
        on loop: EventLoop,
        numbering: ConnectionNumbering = ConnectionNumbering(),
        admits: @escaping () -> Bool = { true },
        onFull: @escaping () -> Void = {},
        onExcess: @escaping () -> Void = {},
        onEvent: @escaping (ClientConnection, Event) -> Void
    ) throws(TransportError) {
        let clients = Clients(numbering)
        let configuration = HTTP2Listener.Configuration(
            tls: tls,
            limits: HTTP2Limits(
                concurrentStreams: limits.initialStreams,
                bodyBytes: limits.bodyBytes,
                fieldBytes: limits.fieldBytes
            )
        )
        listener = try HTTP2Listener(
            host: host,
            port: port,
            configuration: configuration,
            on: loop,
            admits: admits,
            onFull: onFull,
            onExcess: onExcess
        ) { connection, event in
            clients.pass(event, of: connection, to: onEvent)
        }
        self.clients = clients
    }

    /// The port on which the listener accepts connections.
    package var port: UInt16 { listener.port }

    /// Changes the TLS settings of connections that are accepted from now on.
    package func use(_ tls: TLSContext) {
        listener.use(tls)
    }

    /// Changes the number of streams in the first SETTINGS frame of connections that are accepted from now on.
    package func use(initialStreams: UInt32) {
        listener.use(concurrentStreams: initialStreams)
    }

    /// Stops accepting, waits up to `grace` for open requests to end, then calls `completion`.
    package func close(grace: Duration, completion: @escaping () -> Void) {
        listener.close(grace: grace, completion: completion)
    }
}
