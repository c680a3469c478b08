// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox
import MartletRelay
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Runs a relay until a signal stops it.
    static let relay = Command(
        "relay",
        "Run a relay, which accepts pushes from APNs clients, stores them and sends them to Apple",
        examples: [
            "relay --configuration relay.json",
            "relay --configuration relay.json --data /var/lib/martlet/relay.sqlite --http 127.0.0.1:8198",
        ],
        RelayOptions.declared,
        OutputFormat.declared
    ) { options, output in
        try await RelayService(options, format: output).run()
    }
}

/// A relay process, which handles signals and notifies its service manager.
private struct RelayService {
    /// The interval between status notifications to the service manager.
    private static let statusInterval = Duration.seconds(10)

    private let options: RelayOptions
    private let format: OutputFormat
    private let manager: ServiceManager?
    private let isInJournal: Bool

    init(_ options: RelayOptions, format: OutputFormat) {
        self.options = options
        self.format = format
        let environment = ProcessInfo.processInfo.environment
        manager = ServiceManager(environment: environment)
        isInJournal = environment["JOURNAL_STREAM"] != nil
    }

    func run() async throws {
        // Before signals are watched, so that Control-C ends the wait for input.
        try options.readStandardInput()
        let signals = try await ServiceSignal.watch()
        DescriptorLimit.raise()
        let configuration = try options.configuration()
        let direct = logger(for: configuration)
        let output = LogOutput(through: direct)
        let log = direct.through { output.add($0) }
        for warning in configuration.remarks { log.warning(.configurationWarning, ["warning": .string(warning)]) }
        let relay: PushRelay
        do {
            relay = try await PushRelay.start(configuration, log: log)
        } catch {
            if let action = error.action {
                log.error(.relayNotStarted, ["error": .string("\(error)"), "action": .string(action)])
            }
            await output.finish()
            if error.action != nil { throw CommandFailure() }
            throw error
        }
        await printAddresses(of: relay)
        await report(relay)
        await handle(signals, relay, log)
        manager?.notify("STOPPING=1", "STATUS=finishing pushes in flight")
        await relay.stop()
        await output.finish()
    }

    private func printAddresses(of relay: PushRelay) async {
        let ports = await relay.ports.sorted { $0.value < $1.value }
        let httpPort = await relay.httpPort
        var members = ports.map { JSONValue.Member("\($0.key.rawValue)-port", .integer($0.value)) }
        if let httpPort { members.append(.init("http-port", .integer(httpPort))) }
        let lines =
            ports.map { "Takes pushes for \($0.key.rawValue) on port \($0.value).\n" }
            + (httpPort.map { ["Answers in JSON on port \($0).\n"] } ?? []) + ["Press Control-C to stop.\n"]
        format.write(json: .object([.init("state", "running")] + members), text: lines.joined())
    }

    private func logger(for configuration: RelayConfiguration) -> Logger {
        Logger(
            level: configuration.logLevel,
            format: configuration.logFormat ?? (Terminal.errors.isInteractive ? .plain : .json),
            hasPriorities: isInJournal,
            clock: { Int64(Date().timeIntervalSince1970 * 1_000) },
            output: Terminal.errors.write
        )
    }

    /// Notifies the service manager that the relay is ready, and then repeatedly of its status.
    private func report(_ relay: PushRelay) async {
        guard let manager else { return }
        manager.notify("READY=1")
        // Sent from the relay's event loop, so that a blocked loop stops the watchdog messages.
        if let timeout = manager.watchdogTimeout {
            await relay.callRepeatedly(every: timeout / 2) { manager.notifyWithoutWaiting("WATCHDOG=1") }
        }
        await relay.callRepeatedly(every: RelayService.statusInterval) {
            Task { manager.notifyWithoutWaiting("STATUS=\(await relay.summary)") }
        }
    }

    /// Handles signals and drain requests, until one of them stops the relay.
    private func handle(_ signals: AsyncStream<ServiceSignal>, _ relay: PushRelay, _ log: Logger) async {
        let (requests, continuation) = AsyncStream.makeStream(of: ServiceSignal.self)
        let sources = [
            Task { for await signal in signals { continuation.yield(signal) } },
            Task {
                await relay.waitForShutdownRequest()
                continuation.yield(.end)
            },
        ]
        defer { for source in sources { source.cancel() } }
        for await request in requests {
            guard request == .reload else { return }
            manager?.notifyReloading()
            await reload(relay, log)
            manager?.notify("READY=1")
        }
    }

    private func reload(_ relay: PushRelay, _ log: Logger) async {
        func note(_ error: any Error) {
            log.audit(AuditEntry(caller: "SIGHUP", action: "reload", isDone: false))
            log.error(.configurationRejected, ["error": .string("\(error)")])
        }
        let configuration: RelayConfiguration
        do {
            configuration = try options.configuration()
        } catch {
            note(error)
            await relay.recordRejectedReload(error)
            return
        }
        do {
            try await relay.reload(configuration)
            log.audit(AuditEntry(caller: "SIGHUP", action: "reload", isDone: true))
        } catch {
            note(error)
        }
    }
}
