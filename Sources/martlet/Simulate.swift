import APNsClient
import Commands
import Simulator
import Wire

extension Command {
    /// Keeps a local APNs running until it is told to stop.
    static let simulate = Command(
        "simulate",
        "Run a local stand-in for Apple's push servers and show what comes in",
        examples: [
            "simulate", "simulate --port 0 --inbox-port 0 --ca-directory /tmp/martlet",
            "simulate --h2c --environment production --data pushes.sqlite",
            "simulate --fault flaky --fault slow --seed 7",
            "simulate --listen 0.0.0.0 --port 443 --name apns --ca-directory /certificates",
        ],
        Option<UInt16>("--port", "Port that answers as APNs; 0 for any free one", default: 2197),
        Option<UInt16?>(
            "--channel-port",
            "Port where channels are managed; Apple's own when not given, and none with --port 0"
        ),
        Option<UInt16>("--inbox-port", "Port of the HTTP interface; 0 for any free one", default: 8197),
        Option("--listen", "Address to listen on", default: "127.0.0.1"),
        Option(
            "--environment",
            "Which of Apple's environments to play",
            default: SimulatedAPNs.Environment.development
        ),
        AuthorityOptions.declared,
        Option<UInt32>(
            "--streams-before-token",
            "Streams before the first valid token; load generators want more",
            default: 1
        ),
        InboxOptions.declared,
        Option<[Leniency]>("--lenient", "A law of Apple's to let rest"),
        Option<[Fault.Preset]>("--fault", "Something that goes wrong"),
        Option<Int64?>("--seed", "Decides what goes wrong when; the same number, the same faults"),
        Flag("--h2c", "Speak HTTP/2 in the clear instead of TLS"),
        Flag("--quiet", "Print no line for each push"),
        ReleaseOptions.declared
    ) {
        port,
        channelPort,
        inboxPort,
        host,
        environment,
        authority,
        streams,
        inbox,
        lenient,
        presets,
        seed,
        isClear,
        isQuiet,
        release in
        let release = try release.release(in: environment)
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                host: host,
                port: port,
                channelPort: channelPort ?? (port == 0 ? nil : environment.channelPort),
                inboxPort: inboxPort,
                isEncrypted: !isClear,
                environment: environment,
                keptPushes: Int(inbox.keptPushes),
                keptTime: .seconds(Int64(inbox.keptDays) * 86_400),
                dataFile: inbox.dataFile,
                streamsBeforeToken: streams,
                leniency: lenient.reduce([]) { $0.union($1) },
                faults: presets.flatMap(\.faults),
                seed: seed.map { UInt64(bitPattern: $0) } ?? .random(in: .min ... .max),
                authority: isClear ? nil : authority.authority(),
                names: authority.names,
                release: release
            )
        )
        Terminal.output.write(await apns.recipes.text)
        let printer = Task {
            guard !isQuiet else { return }
            for await push in await apns.arrivals() { Terminal.output.write(line(for: push)) }
        }
        let complainer = Task {
            for await trouble in await apns.troubles() { Terminal.errors.write("martlet: \(trouble)\n") }
        }
        let unreadable = await apns.unreadablePushes
        if unreadable > 0 {
            Terminal.errors.write("martlet: \(unreadable) pushes of an earlier run cannot be read\n")
        }
        try await TerminationSignal.received()
        printer.cancel()
        complainer.cancel()
        await apns.stop()
        await release?.client.close()
        if let trouble = await apns.archiveProblem { throw trouble }
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

/// The options that say how much is remembered, and where.
struct InboxOptions: Sendable {
    var keptPushes: UInt32
    var keptDays: UInt16
    var dataFile: String?

    static let declared = Group(
        Option<UInt32>("--keep", "Pushes that are remembered", default: 1_000),
        Option<UInt16>("--keep-days", "Days that a push is remembered", default: 7),
        Option<String?>(
            "--data",
            "SQLite file that keeps them, and the channels, from run to run; memory when not given"
        )
    ) { InboxOptions(keptPushes: $0, keptDays: $1, dataFile: $2) }
}

extension SimulatedAPNs.Environment: ArgumentValue {
    /// Where Apple has the channels of this environment managed.
    fileprivate var channelPort: UInt16? {
        switch self {
        case .development: APNsEndpoint.development.channels?.port
        case .production: APNsEndpoint.production.channels?.port
        }
    }
}

extension Leniency: ArgumentValue {
    /// One of the laws.
    init(argument: String) throws(UsageError) {
        guard let law = Leniency.names.first(where: { $0.name == argument }) else {
            throw UsageError("\"\(argument)\" is none of \(Leniency.valueName)")
        }
        self = law.leniency
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { names.map(\.name).joined(separator: "|") }
}

extension Fault.Preset: ArgumentValue {
    /// One of the presets.
    init(argument: String) throws(UsageError) {
        guard let preset = Fault.presets.first(where: { $0.name == argument }) else {
            let known = Fault.presets.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n")
            throw UsageError("\"\(argument)\" is none of these:\n\(known)")
        }
        self = preset
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { Fault.presets.map(\.name).joined(separator: "|") }
}
