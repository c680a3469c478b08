// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletSimulator
import MartletTransport

extension Command {
    /// Runs a simulator until a signal stops it.
    static let simulate = Command(
        "simulate",
        "Run a simulator of Apple's push servers, and print each push that it receives",
        examples: [
            "simulate", "simulate --port 0 --inbox-port 0 --ca-directory /tmp/martlet",
            "simulate --h2c --environment production --data pushes.sqlite",
            "simulate --fault flaky --fault slow --seed 7",
            "simulate --listen 0.0.0.0 --port 443 --name apns --ca-directory /certificates",
        ],
        Option<UInt16>("--port", "Port for pushes; 0 for any free port", default: 2197),
        Option<UInt16?>(
            "--channel-port",
            "Port for channel management; by default Apple's, 2195 for development and 2196 for production, "
                + "or none with --port 0"
        ),
        Option<UInt16>("--inbox-port", "Port of the HTTP interface and the inbox; 0 for any free port", default: 8197),
        Option("--listen", "IP address, or localhost, to listen on; 0.0.0.0 for all", default: ListenHost.loopback),
        Option("--environment", "Apple's environment to simulate", default: SimulatedAPNs.Environment.development),
        AuthorityOptions.declared,
        Option<UInt32>(
            "--streams-before-token",
            "Streams that a connection may open before its first valid provider token; Apple allows 1, and load "
                + "generators that do not wait for the first answer need more",
            default: 1
        ),
        InboxOptions.declared,
        Option<[RelaxedRules]>("--lenient", "Apple's rule to relax"),
        Option<[SimulatedAPNs.Fault.Preset]>("--fault", "Fault to inject"),
        Flag("--no-token-suffixes", "Let the end of a device token, such as 00dead, select no response"),
        Option<Int64?>("--seed", "Seed of the faults; the same seed reproduces the same faults"),
        Flag("--h2c", "Use HTTP/2 without TLS"),
        Flag("--quiet", "Do not print pushes"),
        ReleaseOptions.declared,
        OutputFormat.declared
    ) {
        port,
        channelPort,
        inboxPort,
        host,
        environment,
        options,
        streams,
        inbox,
        lenient,
        presets,
        ignoresSuffixes,
        seed,
        isClear,
        isQuiet,
        release,
        output in
        guard streams > 0 else {
            throw UsageError("--streams-before-token must be at least 1: without a stream no token can be sent")
        }
        let releaseWarning = release.warning(for: host)
        let release = try release.release(in: environment)
        let authority = try isClear ? nil : options.authorityForOneRun()
        let apns = try await start(
            SimulatedAPNs.Configuration(
                host: host.address,
                port: port,
                channelPort: channelPort ?? (port == 0 ? nil : environment.channelPort),
                inboxPort: inboxPort,
                isEncrypted: !isClear,
                environment: environment,
                storedPushes: Int(inbox.storedPushes),
                storageTime: .seconds(Int64(inbox.storageDays) * 86_400),
                dataFile: inbox.dataFile,
                streamsBeforeToken: streams,
                relaxedRules: lenient.reduce([]) { $0.union($1) },
                faults: presets.flatMap(\.faults),
                usesTokenSuffixes: !ignoresSuffixes,
                seed: seed.map { UInt64(bitPattern: $0) } ?? .random(in: .min ... .max),
                authority: authority?.authority,
                names: options.names,
                release: release
            )
        )
        let recipes = await apns.recipes
        let addresses = await apns.addresses
        for warning in [releaseWarning, authority?.warning].compactMap(\.self) {
            Terminal.errors.write("martlet: \(warning)\n")
        }
        let termination = try await TerminationSignal.watch()
        output.write(json: addresses, text: recipes.text)
        let pushPrinter = Task {
            guard !isQuiet else { return }
            for await push in await apns.arrivals() { output.write(json: push.json, text: line(for: push)) }
        }
        let noticePrinter = Task {
            guard !isQuiet else { return }
            for await notice in await apns.notices() {
                let label = Terminal.output.styled(notice.label, .bad)
                output.write(json: notice.json, text: "\(label)  \(notice.text)\n")
            }
        }
        let errorPrinter = Task {
            for await error in await apns.errors() { Terminal.errors.write("martlet: \(error)\n") }
        }
        let unreadable = await apns.unreadablePushes
        if unreadable > 0 {
            Terminal.errors.write("martlet: \(unreadable.counted("push")) of an earlier run cannot be read\n")
        }
        await termination.received()
        pushPrinter.cancel()
        noticePrinter.cancel()
        errorPrinter.cancel()
        await apns.stop()
        await release?.client.close()
        if let error = await apns.archiveProblem { throw error }
    }

    /// Starts a simulator.
    ///
    /// - Throws: ``CommandError`` that names the option of an address or port that cannot be listened on, and
    ///   ``UsageError`` for files that cannot be used.
    private static func start(_ configuration: SimulatedAPNs.Configuration) async throws -> SimulatedAPNs {
        do throws(SimulatorError) {
            return try await SimulatedAPNs.start(configuration)
        } catch {
            guard let listener = error.listener else { throw UsageError("\(error)") }
            let option =
                switch listener {
                case .host: "--listen"
                case .pushes: "--port"
                case .channels: "--channel-port"
                case .inbox: "--inbox-port"
                }
            throw CommandError("\(error) (\(option))")
        }
    }

    private static func line(for push: ReceivedPush) -> String {
        let status = Terminal.output.styled("\(push.status)", push.status == 200 ? .good : .bad)
        let token =
            push.channel.map { "channel \($0)" } ?? (try? DeviceToken(hex: push.deviceToken))?.description
            ?? "(no token)"
        let facts = [
            status, push.headers.pushType ?? "-", push.headers.topic ?? "-", token, "\(push.payload.count) bytes",
            push.reason?.rawValue ?? "",
        ]
        let findings = push.findings.map { "      \($0.severity.rawValue): \($0.place): \($0.message)\n" }
        return facts.filter { !$0.isEmpty }.joined(separator: "  ") + "\n" + findings.joined()
    }
}

/// The options for the storage of received pushes.
struct InboxOptions: Sendable {
    var storedPushes: UInt32
    var storageDays: UInt16
    var dataFile: String?

    static let declared = Group(
        Option<UInt32>("--keep", "Number of pushes to store", default: 1_000),
        Option<UInt16>("--keep-days", "Days to store a push", default: 7),
        Option<FilePath?>(
            "--data",
            "SQLite file for pushes and channels; by default they are stored in memory",
            variable: "MARTLET_SIMULATOR_DATA"
        )
    ) { InboxOptions(storedPushes: $0, storageDays: $1, dataFile: $2?.path) }
}

extension SimulatedAPNs.Environment: ArgumentValue {
    /// The port of Apple's channel management server in this environment.
    fileprivate var channelPort: UInt16? {
        switch self {
        case .development: APNsEndpoint.development.channels?.port
        case .production: APNsEndpoint.production.channels?.port
        }
    }
}

extension RelaxedRules: ArgumentValue {
    /// Parses one of the rules.
    init(argument: String) throws(UsageError) {
        guard let rule = RelaxedRules.names.first(where: { $0.name == argument }) else {
            throw RelaxedRules.invalidChoice(argument)
        }
        self = rule.rules
    }

    static var valueName: String { "rule" }
    static var choices: [String] { names.map(\.name) }
}

extension SimulatedAPNs.Fault.Preset: ArgumentValue {
    /// Parses one of the presets.
    init(argument: String) throws(UsageError) {
        guard let preset = SimulatedAPNs.Fault.presets.first(where: { $0.name == argument }) else {
            let known = SimulatedAPNs.Fault.presets.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n")
            throw UsageError("must be one of the following (found \(ShownValue.quoted(argument))):\n\(known)")
        }
        self = preset
    }

    static var valueName: String { "fault" }
    static var choices: [String] { SimulatedAPNs.Fault.presets.map(\.name) }
    static var choiceSummaries: [String] { SimulatedAPNs.Fault.presets.map(\.summary) }
}
