// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletTransport

extension Command {
    /// Checks whether a simulator or a relay accepts pushes.
    static let healthcheck = Command(
        "healthcheck",
        "Exit 0 when a simulator or a relay accepts pushes, for container health checks and scripts",
        examples: [
            "healthcheck", "healthcheck --wait 30", "healthcheck --url http://apns:8197/readyz",
            "healthcheck --url 127.0.0.1:8198 --wait 30",
        ],
        Option(
            "--url",
            "HTTP interface of the simulator or relay, host:port or a URL; the path is /readyz unless given",
            default: InterfaceAddress(localPort: 8197, path: Healthcheck.path),
            variable: "MARTLET_HEALTHCHECK_URL"
        ),
        Option<InputFile?>("--ca", "Certificates to trust in addition to the system's, PEM"),
        Option("--wait", "Maximum seconds to wait until the check succeeds", default: WaitSeconds(count: 0)),
        OutputFormat.declared
    ) { address, authorities, wait, output in
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let authorities = try authorities?.certificates()
        let tls = address.server.isEncrypted ? try TLSContext.http1Client(authorities: authorities) : nil
        try await Healthcheck(address: address, tls: tls, loop: loop, wait: wait).run()
        output.write(json: ["url": .string("\(address)"), "ready": true], text: "\(address) is ready\n")
    }
}

/// A check, which is repeated until it succeeds or its time is over.
private struct Healthcheck {
    /// The path that reports whether pushes are accepted.
    static let path = "/readyz"
    /// The time limit of a request.
    private static let timeout = Duration.seconds(5)
    /// The pause between two requests.
    private static let pause = Duration.milliseconds(200)

    let address: InterfaceAddress
    let tls: TLSContext?
    let loop: EventLoop
    let wait: WaitSeconds

    func run() async throws {
        let clock = ContinuousClock()
        let time = Duration.seconds(wait.count)
        let deadline = clock.now + time
        while true {
            // Without a wait, there is one request, with its full time limit.
            let left = time > .zero ? deadline - clock.now : Healthcheck.timeout
            do throws(HealthcheckError) {
                return try await ask(within: min(left, Healthcheck.timeout))
            } catch {
                guard clock.now + Healthcheck.pause < deadline else { throw error }
                try await clock.sleep(for: Healthcheck.pause)
            }
        }
    }

    private func ask(within bound: Duration) async throws(HealthcheckError) {
        let answer: HTTPResponse
        do throws(TransportError) {
            let call = HTTP1Call(host: address.server.host, port: address.server.port, tls: tls)
            let path = address.path.isEmpty ? Healthcheck.path : address.path
            answer = try await call.send("GET", path, within: bound, on: loop)
        } catch {
            let message = "\(address) is not ready: \(error); " + advice(for: error.kind)
            throw HealthcheckError(description: message, isAnswer: false)
        }
        guard answer.status == 200 else {
            let advice = answer.status == 404 ? "check --url" : waitAdvice
            let message = "\(address) is not ready: status \(answer.status)\(answer.reason); \(advice)"
            throw HealthcheckError(description: message, isAnswer: true)
        }
    }

    private var waitAdvice: String {
        wait.count == 0 ? "wait with --wait 30" : "wait longer than --wait \(wait)"
    }

    private func advice(for kind: TransportError.Kind) -> String {
        switch kind {
        case .connectionRefused:
            "start martlet simulate or martlet relay, \(waitAdvice), or give its address with --url"
        case .nameNotResolved: "check the spelling of the host in --url"
        case .tlsFailed,
            .closedByPeer where tls != nil:
            "if the server does not use TLS, begin --url with http://"
        case .closedByPeer:
            "check that --url is the HTTP interface of a simulator or relay, and begins with https:// if that uses TLS"
        default: "check that --url is the HTTP interface of a simulator or relay"
        }
    }
}

extension HTTPResponse {
    /// The reason in a plain text body, in parentheses; empty for another body.
    fileprivate var reason: String {
        guard fields["content-type"]?.hasPrefix("text/plain") ?? false else { return "" }
        let text = body.prefix(200).prefix { (0x20...0x7E).contains($0) }
        return text.isEmpty ? "" : " (\(String(decoding: text, as: UTF8.self)))"
    }
}

/// The reason for which a server is not ready, without the final stop.
struct HealthcheckError: Error, CustomStringConvertible {
    let description: String
    /// Whether the server answered.
    let isAnswer: Bool
}
