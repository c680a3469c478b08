// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletTransport

/// The instructions for pointing clients at a simulator, which its terminal and its page show.
package struct ClientRecipes: Sendable {
    /// The instructions for one client.
    struct Recipe: Sendable {
        /// The name of the client.
        var name: String
        /// The lines to copy to the client's program or command line.
        var lines = ""
        /// The shell command to copy that the client needs besides.
        var shell = ""
        /// A remark to show below the lines.
        var note = ""
    }

    private let url: String
    private let host: String
    /// Whether the simulator must be started with the host as a name, because its certificate is not valid for the
    /// host.
    private let needsName: Bool
    private let port: UInt16
    private let isEncrypted: Bool
    private let channelPort: UInt16?
    private let inboxPort: UInt16
    private let authorityFile: String
    private let phones: SimulatedAPNs.Phones?

    /// The command that makes the system trust the authority.
    private var trustCommand: String {
        #if os(macOS)
            let keychain = "/Library/Keychains/System.keychain"
            return "sudo security add-trusted-cert -d -r trustRoot -k \(keychain) \(authorityFile)"
        #else
            let directory = "/usr/local/share/ca-certificates"
            return "sudo cp \(authorityFile) \(directory)/martlet.crt && sudo update-ca-certificates"
        #endif
    }

    /// Creates the instructions for a simulator.
    init(
        endpoint: APNsEndpoint,
        inboxPort: UInt16,
        authorityFile: String,
        names: [String],
        phones: SimulatedAPNs.Phones?
    ) {
        url = endpoint.url
        host = endpoint.host
        needsName = endpoint.isEncrypted && endpoint.host != "localhost" && !names.contains(endpoint.host)
        port = endpoint.port
        isEncrypted = endpoint.isEncrypted
        channelPort = endpoint.channels?.port
        self.inboxPort = inboxPort
        self.authorityFile = authorityFile
        self.phones = phones
    }

    /// All recipes as text, below a paragraph with the addresses.
    package var text: String {
        let channels = channelPort.map { "Channels are managed there and at port \($0).\n" } ?? ""
        let name =
            needsName ? "The certificate is not valid for \(host): start the simulator with --name \(host).\n" : ""
        let inbox = "http://\(SocketAddress.bracketed(host)):\(inboxPort)"
        let page = phones.map { phones in
            "\(phones.count.counted("simulated phone")) with \(phones.app.topic): \(inbox)/#/phones\n"
        }
        let instructions =
            isEncrypted
            ? "Clients must trust \(authorityFile):"
            : "The simulator uses HTTP/2 without TLS, with prior knowledge:"
        return """
            Simulated APNs at \(url)
            \(name)\(channels)Inbox: \(inbox)/
            Received pushes as JSON: \(inbox)/api/v1/pushes
            \(page ?? "")Every device token and every signing key is accepted. Press Control-C to stop.

            \(instructions)


            """ + all.map(\.text).joined() + "\n"
    }

    /// The recipes, one for each client.
    var all: [Recipe] { isEncrypted ? encrypted : clear }

    private var encrypted: [Recipe] {
        [
            Recipe(name: "curl", lines: curl("--http2 --cacert \(authorityFile)")),
            Recipe(
                name: "Martlet",
                lines: """
                    martlet send --host \(SocketAddress.bracketed(host)):\(port) --ca \(authorityFile) \\
                      --to 5d3a6a1c8f9a42d6 --topic com.example.app --body Hello
                    """
            ),
            Recipe(
                name: "Martlet, Swift",
                lines: """
                    try PushClient(APNsEndpoint(host: "\(host)", port: \(port)), authentication: .token(key),
                      configuration: .init(additionalAuthorities: String(contentsOfFile: "\(authorityFile)", encoding: .utf8)))
                    """
            ),
            Recipe(
                name: "APNSwift",
                lines: #"environment: .custom(url: "https://\#(SocketAddress.bracketed(host))", port: \#(port))"#,
                shell: trustCommand
            ),
            Recipe(
                name: "aioapns",
                lines: """
                    context = ssl.create_default_context(cafile="\(authorityFile)")
                    apns = aioapns.APNs(…, ssl_context=context)
                    connection = apns.pool.protocol_class
                    connection.APNS_SERVER, connection.APNS_PORT = "\(host)", \(port)
                    """
            ),
            Recipe(
                name: "kalyke",
                lines: """
                    class Client(ApnsClient):
                        _base_url = "\(url)"
                    """,
                shell: "export SSL_CERT_FILE=\(authorityFile)"
            ),
            Recipe(
                name: "pyapns_client",
                lines: """
                    class Client(APNSClient):
                        BASE_URLS = {"prod": "\(url)", "dev": "\(url)"}
                    client = Client(mode="prod", root_cert_path="\(authorityFile)", …)
                    """
            ),
            Recipe(
                name: "aapns",
                lines: """
                    Server(client_cert_path=…, host="\(host)", port=\(port), ca_file="\(authorityFile)")
                    """
            ),
            Recipe(
                name: "apns2 (Python)",
                lines: """
                    hyper.tls.cert_loc = "\(authorityFile)"
                    class Client(APNsClient):
                        LIVE_SERVER, DEFAULT_PORT = "\(host)", \(port)
                    """
            ),
            Recipe(
                name: "node-apn",
                lines: """
                    new apn.Provider({ address: "\(host)", port: \(port), ca: fs.readFileSync("\(authorityFile)"), token })
                    """
            ),
            Recipe(name: "Node.js", lines: #"http2.connect("\#(url)", { ca: fs.readFileSync("\#(authorityFile)") })"#),
            Recipe(
                name: "apns2 (Go)",
                lines: #"client.Host = "\#(url)""#,
                shell: "export SSL_CERT_FILE=\(authorityFile)"
            ),
            Recipe(
                name: "Pushy",
                lines: """
                    new ApnsClientBuilder().setApnsServer("\(host)", \(port))
                      .setTrustedServerCertificateChain(new File("\(authorityFile)"))
                    """
            ),
            Recipe(
                name: "gorush, rpush",
                shell: "export SSL_CERT_FILE=\(authorityFile)",
                note: """
                    They connect to Apple's hosts only, for which the certificate is valid too: let the name
                    api.push.apple.com refer to this machine, in /etc/hosts or as a network alias, at port 443
                    ("Connect clients" in the documentation).
                    """
            ),
        ]
    }

    private var clear: [Recipe] {
        [
            Recipe(name: "curl", lines: curl("--http2-prior-knowledge")),
            Recipe(
                name: "Martlet",
                lines: "martlet send --host \(url) --to 5d3a6a1c8f9a42d6 --topic com.example.app --body Hello"
            ),
            Recipe(
                name: "Martlet, Swift",
                lines: """
                    try PushClient(APNsEndpoint(host: "\(host)", port: \(port), isEncrypted: false),
                      authentication: .token(key))
                    """
            ),
            Recipe(name: "Node.js", lines: #"http2.connect("\#(url)")"#),
        ]
    }

    private func curl(_ protocolOptions: String) -> String {
        """
        curl \(protocolOptions) -H "authorization: bearer $(martlet token)" \\
          -H "apns-topic: com.example.app" -H "apns-push-type: alert" \\
          -d '{"aps":{"alert":"Hello"}}' \(url)/3/device/5d3a6a1c8f9a42d6
        """
    }
}

extension ClientRecipes.Recipe {
    /// The recipe as text in two columns.
    fileprivate var text: String {
        let column = 16
        let lines = [lines, shell, note].flatMap { $0.split(separator: "\n") }.joined(
            separator: "\n" + String(repeating: " ", count: column + 2)
        )
        return "  \(name)\(String(repeating: " ", count: max(1, column - name.count)))\(lines)\n"
    }

    /// The recipe in the form that the HTTP interface returns, without empty members.
    var json: JSONValue {
        .object(
            [("name", name), ("lines", lines), ("shell", shell), ("note", note)].filter { !$0.1.isEmpty }
                .map { JSONValue.Member($0, .string($1)) }
        )
    }
}

extension APNsEndpoint {
    /// The URL of the endpoint.
    var url: String { "\(isEncrypted ? "https" : "http")://\(SocketAddress.bracketed(host)):\(port)" }
}
