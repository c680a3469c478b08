import APNsClient
import Commands

extension Command {
    /// Looks at everything that has to be right before a push can arrive.
    static let doctor = Command(
        "doctor",
        "Check key, network, TLS, credentials, clock and topic, and say what to mend",
        examples: [
            "doctor --environment production --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --topic com.example.app",
            "doctor --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app",
        ],
        Option<String>("--topic", "The app's bundle identifier"),
        Option<DeviceToken?>("--to", "A device to send a silent push to; by default a token that nobody has"),
        ServerOptions.declared
    ) { topic, token, server in
        try await Examination(topic: Topic(topic), token: token, server: server).run()
    }
}

/// One examination, step by step; the first thing that is wrong ends it, as what follows would be wrong for it.
private struct Examination {
    /// A token that no device has, so that nobody is disturbed.
    private static let nobody = String(repeating: "0", count: 64)

    var topic: Topic
    var token: DeviceToken?
    var server: ServerOptions

    func run() async throws {
        let client: PushClient
        do {
            client = try server.client(checksBeforeSending: true)
            report("key", "it can sign")
        } catch {
            throw fail("key", "\(error)", "Give --key the .p8 file from the developer account, unchanged.")
        }
        let events = client.events()
        do {
            try await connect(client)
            try await push(client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        for await case .clockSkew(let skew) in events { report("clock", "it is \(skew) off the server's", .bad) }
    }

    private func connect(_ client: PushClient) async throws {
        do throws(APNsError) {
            try await client.warmUp()
            report("network and TLS", "the server is there, trusted, and speaks HTTP/2")
        } catch {
            let advice =
                switch error.code {
                case .nameNotResolved: "Does this machine have a name server, and is the host spelled right?"
                case .connectionFailed, .timedOut:
                    "Is port 443, or 2197, open to Apple's 17.0.0.0/8? Try --host api.push.apple.com:2197."
                case .certificateRejected:
                    "Give --ca the server's authority; for Apple's servers update this machine's certificates."
                case .notHTTP2: "Something in between, such as a proxy, ends TLS: go around it."
                default: "Look at the network."
                }
            throw fail("network and TLS", error.description, advice)
        }
    }

    private func push(_ client: PushClient) async throws {
        let device = try token ?? DeviceToken(hex: Examination.nobody)
        do throws(APNsError) {
            try await client.send(
                .background(expiration: .attemptOnce),
                to: device,
                topic: topic,
                options: SendOptions(retry: RetryPolicy.none)
            )
            report("credentials and topic", "a silent push was accepted")
        } catch {
            if token == nil, error.reason == .badDeviceToken {
                report("credentials and topic", "they are good: APNs only misses a device with the token of nobody")
                return
            }
            throw fail("credentials and topic", error.description, advice(for: error))
        }
    }

    private func advice(for error: APNsError) -> String {
        switch (error.status, error.reason) {
        case (_, .badDeviceToken?): "Is the token from the other environment? See --environment."
        case (_, .deviceTokenNotForTopic?): "The token is another app's: compare --topic with its bundle identifier."
        case (_, .topicDisallowed?), (_, .badTopic?), (_, .missingTopic?):
            "Is --topic the bundle identifier, and does the key serve its team?"
        case (403?, .expiredProviderToken?): "Set this machine's clock."
        case (403?, _): "Do --key, --key-id and --team-id belong together, and to this environment?"
        case (410?, _): "The app was removed from the device, or has a newer token."
        default: "Try again later, and see https://developer.apple.com/system-status/."
        }
    }

    private func report(_ step: String, _ finding: String, _ style: TextStyle = .good) {
        let mark = Terminal.output.styled(style == .good ? "ok  " : "bad ", style)
        Terminal.output.write("\(mark)  \(step): \(finding)\n")
    }

    private func fail(_ step: String, _ finding: String, _ advice: String) -> CommandFailure {
        report(step, finding, .bad)
        Terminal.output.write("      \(advice)\n")
        return CommandFailure()
    }
}
