import APNs
import APNsClient
import Commands
import Wire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options that say which relay to ask, and who does.
struct RelayCaller: Sendable {
    private static let patience = Duration.seconds(30)
    private static let standard = APNsEndpoint(host: "127.0.0.1", port: 8198, isEncrypted: false)

    private var relay: APNsEndpoint
    private var authorities: InputFile?
    private var keyFile: InputFile?

    static let declared = Group(
        Option<APNsEndpoint?>("--url", "The relay's interface in JSON; http://127.0.0.1:8198 when not given"),
        Option<InputFile?>("--ca", "Certificates to trust besides the system's, PEM"),
        Option<InputFile?>("--key-file", "File with a key of the relay's; MARTLET_RELAY_KEY_FILE when not given")
    ) { RelayCaller(relay: $0 ?? standard, authorities: $1, keyFile: $2) }

    /// Asks once.
    ///
    /// - Returns: The answer's JSON.
    /// - Throws: ``RelayAnswerError`` with what the relay, or the network, has against it.
    func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let tls = relay.isEncrypted ? try TLSContext.http1Client(authorities: authorities?.text()) : nil
        let call = HTTP1Call(host: relay.host, port: relay.port, tls: tls)
        var fields: HTTPFields = ["authorization": "Bearer " + (try key())]
        if body != nil { fields.append("content-type", "application/json") }
        let answer = try await call.send(
            method,
            path,
            fields: fields,
            body: body?.encoded() ?? [],
            within: RelayCaller.patience,
            on: loop
        )
        let json = try? JSONReader.read(answer.body)
        guard (200..<300).contains(answer.status), let json else {
            throw RelayAnswerError(status: answer.status, detail: json?["detail"]?.stringValue)
        }
        return json
    }

    private func key() throws(UsageError) -> String {
        let named = ProcessInfo.processInfo.environment["MARTLET_RELAY_KEY_FILE"].map(InputFile.init(argument:))
        guard let file = keyFile ?? named else {
            throw UsageError(
                "--key-file is missing (or the variable MARTLET_RELAY_KEY_FILE): the relay answers to keys"
            )
        }
        // Nothing but the first line, as martlet relay keys make writes it.
        return try file.text().split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}

/// What a relay has against a question.
struct RelayAnswerError: Error, CustomStringConvertible {
    let status: Int
    let detail: String?

    var description: String { "the relay answers \(status)" + (detail.map { ": \($0)" } ?? "") }
}
