// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletTransport

/// The options that select a relay, and the API key for it.
struct RelayClient: Sendable {
    static let timeout = Duration.seconds(30)

    private var relay: InterfaceAddress
    private var authorities: InputFile?
    private var keyFile: InputFile

    static let declared = Group(
        Option(
            "--url",
            "HTTP interface of the relay, host:port or a URL",
            default: InterfaceAddress(localPort: 8198),
            variable: "MARTLET_RELAY_URL"
        ),
        Option<InputFile?>("--ca", "Certificates to trust in addition to the system's, PEM"),
        Option<InputFile>("--key-file", "File whose first line is an API key", variable: "MARTLET_RELAY_KEY_FILE")
    ) { RelayClient(relay: $0, authorities: $1, keyFile: $2) }

    /// Sends a request and waits for the answer, for 30 seconds unless another limit is given.
    ///
    /// - Returns: The JSON of the answer, also of one with the status `other`.
    /// - Throws: ``CommandError`` for an answer that reports an error, and ``RelayConnectionError`` if there is no
    ///   answer.
    func send(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        within limit: Duration = RelayClient.timeout,
        orStatus other: Int? = nil
    ) async throws -> JSONValue {
        let type = body == nil ? nil : "application/json"
        return try await send(method, path, body?.encoded() ?? [], type: type, within: limit, orStatus: other)
    }

    /// Sends a request with a body of a type, as ``send(_:_:_:within:orStatus:)``.
    func send(
        _ method: String,
        _ path: String,
        _ body: [UInt8],
        type: String?,
        within limit: Duration,
        orStatus other: Int? = nil
    ) async throws -> JSONValue {
        let key = try keyFile.firstLine()
        guard !key.isEmpty else {
            throw UsageError("\(keyFile.label): the first line must be an API key (found nothing)")
        }
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let server = relay.server
        let tls = server.isEncrypted ? try TLSContext.http1Client(authorities: authorities?.certificates()) : nil
        let call = HTTP1Call(host: server.host, port: server.port, tls: tls)
        var fields: HTTPFields = ["authorization": "Bearer " + key]
        if let type { fields.append("content-type", type) }
        let answer: HTTPResponse
        do throws(TransportError) {
            answer = try await call.send(
                method,
                relay.path + path,
                fields: fields,
                body: body,
                within: limit,
                on: loop
            )
        } catch {
            throw RelayConnectionError(cause: error)
        }
        let json = try? JSONReader.read(answer.body)
        guard (200..<300).contains(answer.status) || answer.status == other, let json else {
            let detail = json?["detail"]?.stringValue.map { ": \($0)" } ?? ""
            throw CommandError("the relay answers \(answer.status)\(detail)")
        }
        return json
    }
}

/// An error for a relay that does not answer.
struct RelayConnectionError: Error, CustomStringConvertible {
    let cause: TransportError

    var description: String { "\(cause); \(advice)" }

    private var advice: String {
        switch cause.kind {
        case .connectionRefused: "start the relay, or give the address of its HTTP interface with --url"
        case .nameNotResolved: "check the spelling of the host in --url"
        case .tlsFailed: "if the relay does not use TLS, begin --url with http://"
        case .certificateRejected: "give --ca the certificates of the relay's authority"
        default:
            "check that --url is the HTTP interface of a relay, and begins with https:// if that uses TLS"
        }
    }
}
