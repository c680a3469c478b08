import APNsClient
import Commands
import Wire

extension Command {
    /// Asks a simulator or a relay whether it takes pushes.
    static let healthcheck = Command(
        "healthcheck",
        "End well when a simulator or a relay takes pushes: for a container's HEALTHCHECK, or to wait in scripts",
        examples: [
            "healthcheck", "healthcheck --wait 30", "healthcheck --url http://apns:8197/readyz",
            "healthcheck --url http://127.0.0.1:8198 --wait 30",
        ],
        Option<ProbeAddress>("--url", "What to ask; 200 is the good answer", default: .standard),
        Option<WaitSeconds>(
            "--wait",
            "Seconds to go on asking until the answer is good",
            default: WaitSeconds(count: 0)
        )
    ) { address, wait in
        let loop = try EventLoop()
        defer { loop.shutdown() }
        try await Healthcheck(address: address, loop: loop).run(within: .seconds(wait.count))
        Terminal.output.write("\(address) is ready\n")
    }
}

/// One check, with as many questions as its time allows.
private struct Healthcheck {
    /// How long one question may take.
    private static let patience = Duration.seconds(5)
    /// How long to leave the server alone between two.
    private static let pause = Duration.milliseconds(200)

    var address: ProbeAddress
    var loop: EventLoop

    func run(within time: Duration) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + time
        while true {
            // The first question has its time even when nothing is waited for.
            let left = time > .zero ? deadline - clock.now : Healthcheck.patience
            do throws(HealthcheckError) {
                return try await ask(within: min(left, Healthcheck.patience))
            } catch {
                guard clock.now + Healthcheck.pause < deadline else { throw error }
                try await clock.sleep(for: Healthcheck.pause)
            }
        }
    }

    private func ask(within bound: Duration) async throws(HealthcheckError) {
        let status: Int
        do throws(WireError) {
            let call = HTTP1Call(host: address.server.host, port: address.server.port)
            status = try await call.send("GET", address.path, within: bound, on: loop).status
        } catch {
            throw HealthcheckError("\(address) is not ready: \(error); " + advice(for: error.kind))
        }
        guard status == 200 else {
            let advice = status == 404 ? "is --url right?" : "wait for it with --wait 30"
            throw HealthcheckError("\(address) is not ready: it answers \(status); \(advice)")
        }
    }

    private func advice(for kind: WireError.Kind) -> String {
        switch kind {
        case .connectionRefused:
            "start martlet simulate (or relay), wait for it with --wait 30, or name its place with --url"
        case .nameNotResolved: "is the host in --url spelled right?"
        default: "is it another program's port? --url names the HTTP interface of simulator or relay"
        }
    }
}

/// Why a server does not count as ready, in a sentence without the final stop.
private struct HealthcheckError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What a healthcheck asks: `http://`, a host, a port and a path.
struct ProbeAddress: ArgumentValue, CustomStringConvertible {
    /// The simulator's own, where nobody has chosen another.
    static let standard = ProbeAddress(
        server: APNsEndpoint(host: "127.0.0.1", port: 8197, isEncrypted: false),
        path: "/readyz",
        description: "http://127.0.0.1:8197/readyz"
    )

    var server: APNsEndpoint
    var path: String
    /// As it was written.
    let description: String

    private init(server: APNsEndpoint, path: String, description: String) {
        self.server = server
        self.path = path
        self.description = description
    }

    /// An address in the clear; without a path it is `/readyz`.
    init(argument: String) throws(UsageError) {
        let scheme = "http://"
        guard argument.hasPrefix(scheme) else {
            throw UsageError("\"\(argument)\" has to begin with http://, as in http://127.0.0.1:8197/readyz")
        }
        let rest = argument.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        let path = String(rest.dropFirst(authority.count))
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw UsageError("\"\(argument)\" has a space or a control character in its path")
        }
        server = try APNsEndpoint(argument: scheme + authority)
        self.path = path.isEmpty ? "/readyz" : path
        description = argument
    }

    static var valueName: String { "url" }
}

/// Whole seconds up to an hour.
struct WaitSeconds: ArgumentValue, CustomStringConvertible {
    var count: Int
    var description: String { String(count) }

    init(count: Int) {
        self.count = count
    }

    init(argument: String) throws(UsageError) {
        guard let count = Int(argument), (0...3_600).contains(count) else {
            throw UsageError("\"\(argument)\" is no number of seconds from 0 to 3600")
        }
        self.count = count
    }

    static var valueName: String { "seconds" }
}
