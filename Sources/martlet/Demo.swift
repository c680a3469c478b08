import APNsClient
import Commands
import Simulator
import Wire

extension Command {
    /// Starts a simulator, sends it pushes of every kind, and shows what APNs would have answered.
    static let demo = Command(
        "demo",
        "Start a local APNs, send it real pushes, and show every answer",
        examples: ["demo"]
    ) {
        try await Demo().run()
    }
}

/// One run of the demonstration.
private struct Demo {
    /// A clock two hours behind, as on a machine that lost its time.
    private static let slowClock = WallClock { WallClock.system.secondsSince1970() - 2 * 60 * 60 }

    func run() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let clients = try Clients(for: apns, at: await apns.endpoint)
        let pushes = try await DemoPush.all(for: apns)
        Terminal.output.write(
            "Sending \(pushes.count) pushes over HTTP/2 and TLS to a local APNs on port \(await apns.port).\n\n"
        )

        var table = Table([
            Table.Column("", isNumeric: true), "push", "to", Table.Column("status", isNumeric: true), "answer",
            Table.Column("ms", isNumeric: true),
        ])
        var surprises = 0
        for (index, push) in pushes.enumerated() {
            let outcome = await clients.send(push)
            let isExpected = outcome.isAnswer(push.expected)
            if !isExpected { surprises += 1 }
            table.add([
                Table.Cell("\(index + 1)", .faint), Table.Cell(push.title), Table.Cell(push.token.description, .faint),
                Table.Cell(outcome.status, outcome.isAccepted ? .good : .bad),
                Table.Cell(outcome.explanation + (isExpected ? "" : "   (expected \(push.expected))")),
                Table.Cell(outcome.milliseconds, .faint),
            ])
        }
        await clients.close()
        Terminal.output.write(table.text(for: .output))
        Terminal.output.write(closing(received: await apns.pushCount, surprises: surprises))
        if Terminal.output.isInteractive { try await keepInboxOpen(of: apns) }
        await apns.stop()
        if surprises > 0 { throw CommandFailure() }
    }

    /// Lets a person look at what came in; a program that reads this is not kept waiting.
    private func keepInboxOpen(of apns: SimulatedAPNs) async throws {
        let url = "http://localhost:\(await apns.inboxPort ?? 0)/"
        Terminal.output.write("Look at what came in:  \(url)\nControl-C ends it.\n")
        try await TerminationSignal.received()
    }

    private func closing(received: Int, surprises: Int) -> String {
        let program = CommandLine.arguments.first ?? "martlet"
        let verdict =
            surprises == 0
            ? "Every answer was the one Apple would have given; the local APNs received \(received) of the pushes."
            : "\(surprises) of the answers were not the expected ones."
        return """

            \(verdict)

            To look further:
              keep a local APNs running, and see how to point any client at it:  \(program) simulate
              send a push of your own, to Apple or to the local APNs:            \(program) send --help
              use the client library from Swift:                                 README.md and Examples/

            """
    }

    /// The clients that the demonstration sends with.
    private struct Clients {
        private let usual: PushClient
        private let unchecked: PushClient
        private let late: PushClient

        init(for apns: SimulatedAPNs, at endpoint: APNsEndpoint) throws {
            let authentication = Authentication.token(try .ephemeral())
            var configuration = apns.clientConfiguration
            // Each push once, so that the table shows the answer to each.
            configuration.retry = .none
            usual = try PushClient(endpoint, authentication: authentication, configuration: configuration)
            configuration.checksBeforeSending = false
            unchecked = try PushClient(endpoint, authentication: authentication, configuration: configuration)
            late = try PushClient(
                endpoint,
                authentication: authentication,
                configuration: configuration,
                clock: Demo.slowClock
            )
        }

        func send(_ push: DemoPush) async -> DemoOutcome {
            let client =
                switch push.sender {
                case .usual: usual
                case .unchecked: unchecked
                case .late: late
                }
            let clock = ContinuousClock()
            let start = clock.now
            do {
                _ = try await client.send(push.notification, to: push.token, topic: push.topic)
                return DemoOutcome(answer: .accepted, took: clock.now - start)
            } catch {
                return DemoOutcome(error, took: clock.now - start)
            }
        }

        func close() async {
            for client in [usual, unchecked, late] { await client.close() }
        }
    }
}
