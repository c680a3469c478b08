import APNsClient

/// The lines that point clients at a simulator.
struct ClientRecipes {
    var endpoint: APNsEndpoint
    var inboxPort: UInt16
    var authorityFile: String

    private var channels: String {
        endpoint.channels.map { "Channels are managed there, and at port \($0.port) as Apple has it.\n" } ?? ""
    }

    private var url: String { "\(endpoint.isEncrypted ? "https" : "http")://localhost:\(endpoint.port)" }

    var text: String {
        let inbox = """
            Martlet's local APNs answers at \(url)
            \(channels)The inbox, for people: http://localhost:\(inboxPort)/
            What came in, as JSON: http://localhost:\(inboxPort)/api/v1/pushes
            Any device token is taken, and any key signs. Control-C ends it.


            """
        return inbox + (endpoint.isEncrypted ? encrypted : clear) + "\n"
    }

    private var encrypted: String {
        """
        Clients have to trust \(authorityFile). This is how:

          curl          curl --http2 --cacert \(authorityFile) -H "authorization: bearer $(martlet token)" \\
                          -H "apns-topic: com.example.app" -H "apns-push-type: alert" \\
                          -d '{"aps":{"alert":"Hello"}}' \(url)/3/device/5d3a6a1c8f9a42d6
          Martlet       martlet send --host localhost:\(endpoint.port) --ca \(authorityFile) \\
                          --to 5d3a6a1c8f9a42d6 --topic com.example.app --body Hello
                        PushClient(APNsEndpoint(host: "localhost", port: \(endpoint.port)), authentication: .token(key),
                          configuration: .init(additionalAuthorities: String(contentsOfFile: "\(authorityFile)", encoding: .utf8)))
          aioapns       context = ssl.create_default_context(cafile="\(authorityFile)"); context.set_alpn_protocols(["h2"])
                        apns = aioapns.APNs(…, ssl_context=context)
                        connection = apns.pool.protocol_class
                        connection.APNS_SERVER, connection.APNS_PORT = "localhost", \(endpoint.port)
          node-apn      new apn.Provider({ address: "localhost", port: \(endpoint.port), ca: fs.readFileSync("\(authorityFile)"), token })
          apns2 (Go)    client.Host = "\(url)", and SSL_CERT_FILE=\(authorityFile) in the environment
          Pushy         new ApnsClientBuilder().setApnsServer("localhost", \(endpoint.port))
                          .setTrustedServerCertificateChain(new File("\(authorityFile)"))
          APNSwift      environment: .custom(url: "https://localhost", port: \(endpoint.port)), after
                          sudo cp \(authorityFile) /usr/local/share/ca-certificates/martlet.crt && sudo update-ca-certificates
          gorush, rpush know Apple's hosts only, for which the certificate is good too: give this machine the name
                        api.push.apple.com, in /etc/hosts or as a network alias, at port 443, and have
                        SSL_CERT_FILE=\(authorityFile) in their environment ("Pointing clients at it" in the documentation)

        """
    }

    private var clear: String {
        """
        It speaks HTTP/2 in the clear, with prior knowledge:

          curl          curl --http2-prior-knowledge -H "authorization: bearer $(martlet token)" \\
                          -H "apns-topic: com.example.app" -H "apns-push-type: alert" \\
                          -d '{"aps":{"alert":"Hello"}}' \(url)/3/device/5d3a6a1c8f9a42d6
          Martlet       martlet send --host \(url) --to 5d3a6a1c8f9a42d6 --topic com.example.app --body Hello

        """
    }
}
