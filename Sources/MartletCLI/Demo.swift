// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletSimulator
import MartletTransport

extension Command {
    /// Starts a simulator, sends it example pushes, and prints each answer.
    static let demo = Command(
        "demo",
        "Start a simulator, send it example pushes and common mistakes, and print each answer",
        examples: ["demo"],
        OutputFormat.declared
    ) { output in
        try await Demo(output: output).run()
    }
}

/// A run of `martlet demo`.
private struct Demo {
    /// A group of pushes, with its own table.
    private struct Section {
        var title: String
        var pushes: [DemoPush]
        /// The heading of the last column; nil for none.
        var remark: String?
    }

    /// A clock that is two hours slow.
    private static let slowClock = WallClock { WallClock.system.secondsSince1970() - 2 * 60 * 60 }

    let output: OutputFormat

    func run() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let endpoint = await apns.endpoint
        let clients = try Clients(for: apns, at: endpoint)
        let channel = try await clients.usual.channels(of: DemoScenario.app).create()
        let world = try await DemoScenario(in: apns, channel: channel)
        let sections = [
            Section(title: "An order, from placed to delivered", pushes: try DemoOrder.pushes(on: channel)),
            Section(
                title: "Accepted, with mistakes",
                pushes: try DemoMistakes.accepted(at: WallClock.system.secondsSince1970()),
                remark: "finding"
            ),
            Section(title: "Refused", pushes: DemoMistakes.refused(), remark: "answer"),
        ]
        if !output.isJSON {
            let port = await apns.port
            Terminal.output.write("Sending pushes over HTTP/2 and TLS to a local APNs on port \(port).\n")
        }
        var number = 0
        var unexpected = 0
        for section in sections {
            unexpected += try await send(section, after: number, with: clients, in: world)
            number += section.pushes.count
        }
        await clients.close()
        let received = await apns.pushCount
        if !output.isJSON {
            Terminal.output.write(summary(sent: number, received: received, unexpected: unexpected))
            if Terminal.output.isInteractive { try await keepInboxOpen(of: apns) }
        }
        await apns.stop()
        if unexpected > 0 { throw CommandFailure() }
    }

    /// Sends the pushes of a section and prints the answers.
    ///
    /// - Returns: The number of answers that were not the expected ones.
    private func send(
        _ section: Section,
        after number: Int,
        with clients: Clients,
        in world: DemoScenario
    ) async throws -> Int {
        var table = Table(
            [
                Table.Column("", isNumeric: true), "push", "to", Table.Column("status", isNumeric: true),
                Table.Column("ms", isNumeric: true),
            ] + (section.remark.map { [Table.Column($0)] } ?? [])
        )
        var unexpected = 0
        for (index, push) in section.pushes.enumerated() {
            var outcome = await clients.send(push, in: world)
            if push.rule != nil, let found = await world.apns.pushes.last?.findings { outcome.note(found, push.rule) }
            let isExpected = outcome.answer == push.expected
            if !isExpected { unexpected += 1 }
            if output.isJSON {
                Terminal.output.write(outcome.json(of: push, number: number + index + 1, isExpected).line)
            }
            let title = push.title + (isExpected ? "" : " (expected \(push.expected), \(outcome.explanation))")
            table.add([
                Table.Cell("\(number + index + 1)", .faint), Table.Cell(title), Table.Cell(push.destination, .faint),
                Table.Cell(outcome.status, outcome.answer == .accepted ? .good : .bad),
                Table.Cell(outcome.milliseconds, .faint), Table.Cell(outcome.explanation),
            ])
        }
        if !output.isJSON {
            Terminal.output.write("\n\(Terminal.output.styled(section.title, .bold))\n" + table.text(for: .output))
        }
        return unexpected
    }

    /// Keeps the inbox open until Control-C.
    private func keepInboxOpen(of apns: SimulatedAPNs) async throws {
        let url = "http://localhost:\(await apns.inboxPort ?? 0)/"
        let termination = try await TerminationSignal.watch()
        Terminal.output.write("Received pushes: \(url)\nPress Control-C to stop.\n")
        await termination.received()
    }

    private func summary(sent: Int, received: Int, unexpected: Int) -> String {
        let program = CommandLine.arguments.first ?? "martlet"
        let verdict =
            unexpected == 0
            ? "Every answer was as expected; the local APNs received \(received) of \(sent.counted("push"))."
            : "\(unexpected.counted("answer was", "answers were")) not as expected."
        return """

            \(verdict)

            Next steps:
              run a local APNs, and configure a client for it:  \(program) simulate
              send a push to Apple or to the local APNs:        \(program) send --help
              use the client library from Swift:                README.md and Examples/

            """
    }

    /// The clients that send the pushes.
    private struct Clients {
        let usual: PushClient
        private let unchecked: PushClient
        private let late: PushClient

        init(for apns: SimulatedAPNs, at endpoint: APNsEndpoint) throws {
            let authentication = PushClient.Authentication.token(try .ephemeral())
            var configuration = apns.clientConfiguration
            // Without retries, the table shows the answer to each push.
            configuration.retry = RetryPolicy.none
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

        func send(_ push: DemoPush, in world: DemoScenario) async -> DemoOutcome {
            let client =
                switch push.sender {
                case .usual: usual
                case .unchecked: unchecked
                case .late: late
                }
            let clock = ContinuousClock()
            let start = clock.now
            do {
                _ = try await push.send(with: client, in: world)
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
