// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

/// Tests of commands in a network with an HTTP proxy.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
    /// The variables that select a proxy, without values, because the tests may run behind a proxy themselves.
    private static let cleared = [
        "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
    ].map { $0 + "=" }

    private func martlet(_ words: [String], environment: [String]) async throws -> ProgramRun {
        try await ProgramRun("env", Self.cleared + environment + [MartletProcess.program] + words)
    }

    @Test(arguments: ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "MARTLET_PROXY"])
    func `pushes go through the proxy of a variable`(variable: String) async throws {
        let simulator = try await SimulatorProcess(isEncrypted: true)
        let proxy = try TunnelProxy(to: simulator.port)
        let scratch = try ScratchDirectory()
        let authority = try scratch.write(try #require(simulator.authorityPEM), to: "ca.pem")
        let server = ["--host", "api.push.apple.com", "--ca", authority, "--topic", "com.example.app"]
        let environment = ["\(variable)=http://user:secret@127.0.0.1:\(proxy.port)"]
        let sent = try await martlet(["send", "--to", "5d3a", "--body", "x"] + server, environment: environment)
        #expect(sent.status == 0, "\(sent.text)\(sent.errorOutput)")
        let checked = try await martlet(["doctor"] + server, environment: environment)
        #expect(checked.status == 0, "\(checked.text)")
        let source = variable == "MARTLET_PROXY" ? "--proxy or MARTLET_PROXY" : "the environment variables"
        #expect(checked.text.contains("proxy: 127.0.0.1:\(proxy.port), from \(source)\n"), "\(checked.text)")
        #expect(proxy.requests.count >= 2)
        #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT api.push.apple.com:443 HTTP/1.1\r\n") })
        #expect(!(sent.text + sent.errorOutput + checked.text + checked.errorOutput).contains("secret"))
        proxy.stop()
    }

    @Test func `doctor asks both of Apple's hosts for broadcasts`() async throws {
        let simulator = try await SimulatorProcess(isEncrypted: true)
        let proxy = try TunnelProxy(to: simulator.port)
        let scratch = try ScratchDirectory()
        let authority = try scratch.write(try #require(simulator.authorityPEM), to: "ca.pem")
        let key = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        let words = [
            "doctor", "--topic", "com.example.app", "--ca", authority, "--team-id", "DEF123GHIJ",
            "--key", try scratch.write(key.output, to: "AuthKey_ABC123DEFG.p8"), "--key-id", "ABC123DEFG",
        ]
        let run = try await martlet(words, environment: ["HTTPS_PROXY=http://127.0.0.1:\(proxy.port)"])
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        for host in ["api.sandbox.push.apple.com", "api-broadcast.sandbox.push.apple.com"] {
            let line = "ok    broadcasts at \(host): available; APNs refuses only the test channel"
            #expect(run.text.contains(line), "\(run.text)")
            #expect(proxy.requests.contains { $0.hasPrefix("CONNECT \(host):443 ") })
        }
        proxy.stop()
    }

    @Test func `a proxy that is not found is named with the advice`() async throws {
        let words = ["doctor", "--host", "api.push.apple.com", "--topic", "com.example.app"]
        let run = try await martlet(words, environment: ["HTTPS_PROXY=http://user:secret@nowhere.invalid:3128"])
        #expect(run.status == 3 && run.text.contains("the host of the proxy nowhere.invalid:3128"), "\(run.text)")
        #expect(!run.text.contains("secret"))
    }

    @Test(arguments: [
        (["HTTPS_PROXY=socks5://user:secret@127.0.0.1:1080"], "HTTPS_PROXY must be the URL of an HTTP proxy"),
        (["MARTLET_PROXY=https://user:secret@127.0.0.1"], "MARTLET_PROXY: must be the URL of an HTTP proxy"),
    ])
    func `an unsupported proxy is a usage error`(environment: [String], message: String) async throws {
        let server = ["--host", "api.push.apple.com", "--topic", "com.example.app"]
        let sent = try await martlet(["send", "--to", "5d3a", "--body", "x"] + server, environment: environment)
        #expect(sent.status == 2 && sent.errorOutput.contains(message), "\(sent.errorOutput)")
        let checked = try await martlet(["doctor"] + server, environment: environment)
        #expect(checked.status == 2 && (checked.text + checked.errorOutput).contains(message), "\(checked.text)")
        for run in [sent, checked] { #expect(!(run.text + run.errorOutput).contains("secret")) }
    }

    @Test func `a server on this machine is reached directly`() async throws {
        let simulator = try await SimulatorProcess()
        let words = [
            "send", "--host", "http://localhost:\(simulator.port)", "--topic", "com.example.app", "--to", "5d3a",
            "--body", "x",
        ]
        let run = try await martlet(words, environment: ["ALL_PROXY=socks5://127.0.0.1:1"])
        #expect(run.status == 0, "\(run.errorOutput)")
    }

    @Test func `relay check prints proxies without their passwords`() async throws {
        let relay = try await RelayProcess(to: ["host": "apns.example.com", "port": 2197])
        let words = ["relay", "check", "--configuration", relay.configuration]
        let environment = ["HTTPS_PROXY=http://user:secret@proxy.example.com:3128"]
        let run = try await martlet(words, environment: environment)
        let line = "Connects to apns.example.com:2197 through the proxy proxy.example.com:3128.\n"
        #expect(run.status == 0 && run.text.contains(line), "\(run.text)\(run.errorOutput)")
        let json = try await martlet(words + ["--json"], environment: environment)
        let connection = try JSONReader.read(json.output)["proxies"]?.elements?.first
        #expect(connection?["server"] == "apns.example.com:2197" && connection?["proxy"] == "proxy.example.com:3128")
        let exempted = try await martlet(words, environment: environment + ["NO_PROXY=example.com"])
        #expect(exempted.status == 0 && !exempted.text.contains("through the proxy"), "\(exempted.text)")
        let wrong = try await martlet(words, environment: ["ALL_PROXY=socks5://user:secret@proxy"])
        #expect(wrong.status != 0 && wrong.errorOutput.contains("ALL_PROXY must be the URL"), "\(wrong.errorOutput)")
        for run in [run, json, wrong] { #expect(!(run.text + run.errorOutput).contains("secret")) }
    }
}
