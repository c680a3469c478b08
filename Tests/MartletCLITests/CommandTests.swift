// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the built program: its output and its exit statuses.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    /// The program that was built with these tests, beside them.
    fileprivate static let martlet = MartletProcess.program

    private func martlet(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await ProgramRun(Self.martlet, arguments, input: Array(input.utf8))
    }

    /// A simulator with its authority in a file.
    private struct Bench {
        let apns: SimulatedAPNs
        let scratch: ScratchDirectory
        let host: String
        let authority: String

        init() async throws {
            apns = try await SimulatedAPNs.start()
            scratch = try ScratchDirectory()
            host = "localhost:\(await apns.port)"
            authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
        }

        /// Sends to one device of the simulator, with more options.
        func send(_ more: String..., input: String = "") async throws -> ProgramRun {
            let server = ["--host", host, "--ca", authority, "--to", "5d3a6a1c", "--topic", "com.example.app"]
            return try await ProgramRun(CommandTests.martlet, ["send"] + server + more, input: Array(input.utf8))
        }
    }

    // MARK: demo

    @Test func `the demo succeeds and shows every kind of answer`() async throws {
        let run = try await martlet("demo")
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let rows = run.text.split(separator: "\n").filter { $0.contains(/^ *[0-9]+ {2}/) }
        #expect(rows.count >= 30)
        for answer in ["BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredProviderToken", "PayloadTooLarge"] {
            #expect(rows.count { $0.contains(answer) } == 1, "\(answer)")
        }
        #expect(rows.contains { $0.contains("410") && $0.contains("timestamp 1790000000000") })
        #expect(rows.contains { $0.contains("413") })
        for rule in ["badge-not-a-number", "interruption-level-unknown", "activity-attributes-equal-state"] {
            #expect(rows.count { $0.contains("200") && $0.contains(rule) } == 1, "\(rule)")
        }
        #expect(run.text.contains("\(rows.count - 1) of \(rows.count) pushes"), "all but the one not sent")
    }

    // MARK: send

    @Test func `one notification goes to several devices`() async throws {
        let bench = try await Bench()
        let run = try await bench.send(
            "--to",
            "A1B2C3D4",
            "--title",
            "Order ready",
            "--body",
            "Tap to open.",
            "--badge",
            "3",
            "--json"
        )
        #expect(run.status == 0, "\(run.errorOutput)")
        let answers = try run.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        #expect(answers.map { $0["device-token"]?.stringValue } == ["5d3a6a1c", "a1b2c3d4"])
        #expect(answers.allSatisfy { $0["status"]?.integerValue == 200 })
        let pushes = await bench.apns.pushes
        #expect(Set(pushes.map(\.deviceToken)) == ["5d3a6a1c", "a1b2c3d4"])
        #expect(
            pushes.allSatisfy {
                String(decoding: $0.payload, as: UTF8.self)
                    == #"{"aps":{"alert":{"title":"Order ready","body":"Tap to open."},"badge":3}}"#
            }
        )
        await bench.apns.stop()
    }

    @Test func `a payload from standard input is sent unchanged`() async throws {
        let bench = try await Bench()
        let payload = #"{ "aps" : {"alert":"exactly so"}, "n" : 1.50 }"#
        let run = try await bench.send("--payload", "-", input: payload)
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(await bench.apns.pushes.map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
        await bench.apns.stop()
    }

    @Test func `a background push has priority 5`() async throws {
        let bench = try await Bench()
        let run = try await bench.send("--background", "--custom", #"{"sync":true}"#)
        #expect(run.status == 0, "\(run.errorOutput)")
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.headers.pushType == "background" && push.headers.priority == "5")
        #expect(String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"content-available":1},"sync":true}"#)
        await bench.apns.stop()
    }

    @Test func `a refused push fails the command with the reason`() async throws {
        let bench = try await Bench()
        await bench.apns.unregister(try DeviceToken(hex: "5d3a6a1c"), since: Date(timeIntervalSince1970: 1_790_000_000))
        let run = try await bench.send("--body", "Hello", "--json")
        #expect(run.status == 1)
        let answer = try JSONReader.read(Array(run.text.utf8))
        #expect(answer["status"]?.integerValue == 410)
        #expect(answer["reason"]?.stringValue == "Unregistered")
        #expect(answer["unregistered-at"]?.integerValue == 1_790_000_000_000)
        await bench.apns.stop()
    }

    @Test(arguments: [
        (["send", "--to", "5d3", "--topic", "a", "--body", "x"], 2, "odd number"),
        (["send", "--to", "5", "--topic", "a", "--body", "x"], 2, "has 1 hexadecimal digit, an odd number"),
        (["send", "--to", "martlet", "--topic", "a", "--body", "x"], 2, "--to"),
        (["send", "--topic", "a", "--body", "x"], 2, "--to"),
        (["send", "--to", "5d3a", "--tpoic", "a"], 2, "did you mean --topic?"),
        (
            ["send", "--to", "5d3a", "--topic", "a", "--body", "x", "--key", "/AuthKey_ABC123DEFG.p8"], 2,
            "cannot be read"
        ),
        (["send", "--to", "5d3a", "--topic", "a", "--payload", "/nowhere.json"], 2, "/nowhere.json"),
        (["send", "--host", "localhost:1", "--to", "5d3a", "--topic", "a", "--body", "x"], 3, "refused"),
        (["simulat"], 2, "did you mean simulate?"),
        (["relay", "run"], 2, "unknown command \"relay run\"; did you mean martlet relay --configuration relay.json?"),
        (["relay", "purg"], 2, "unknown command \"relay purg\""),
        (["simulate", "--allow-release", "--release-host", "http://localhost:1"], 2, "--release-to is missing"),
        (["simulate", "--allow-release", "--release-to", "5d3a"], 2, "--key is missing"),
        (["simulate", "--release-to", "5d3a"], 2, "need --allow-release"),
        (["token", "abc"], 2, "token"),
    ])
    func `invalid usage is reported with the rule`(arguments: [String], status: Int32, explanation: String) async throws
    {
        let run = try await ProgramRun(Self.martlet, arguments)
        #expect(run.status == status, "\(run.text)\(run.errorOutput)")
        #expect((run.text + run.errorOutput).contains(explanation), "\(run.text)\(run.errorOutput)")
    }

    // MARK: live, broadcast and channels

    @Test func `an activity is started, updated and ended`() async throws {
        let bench = try await Bench()
        let server = ["--host", bench.host, "--ca", bench.authority, "--to", "5d3a6a1c", "--topic", "com.example.app"]
        let start = [
            "--attributes-type", "RideAttributes", "--attributes", #"{"rideID":"r7"}"#, "--title", "Your ride",
        ]
        let state = ["--state", #"{"minutes":1.50}"#]
        for arguments in [
            ["live", "start"] + server + start + state + ["--body", "soon"], ["live", "update"] + server + state,
            ["live", "end"] + server + ["--dismiss", "now"],
        ] {
            let run = try await ProgramRun(Self.martlet, arguments)
            #expect(run.status == 0 && run.text.hasPrefix("200 accepted as "), "\(run.text)\(run.errorOutput)")
        }
        let payloads = try await bench.apns.pushes.map { try JSONReader.read($0.payload)["aps"] }
        #expect(payloads.map { $0?["event"]?.stringValue } == ["start", "update", "end"])
        #expect(payloads[0]?["attributes"] == ["rideID": "r7"])
        #expect(String(decoding: payloads[1]?["content-state"]?.encoded() ?? [], as: UTF8.self) == #"{"minutes":1.50}"#)
        await bench.apns.stop()
    }

    @Test func `a channel is created, read, listed, used and deleted`() async throws {
        let bench = try await Bench()
        let server = ["--host", bench.host, "--ca", bench.authority, "--topic", "com.example.app"]
        func run(_ arguments: [String]) async throws -> ProgramRun {
            try await ProgramRun(Self.martlet, arguments + server)
        }
        let channel = try await run(["channels", "create", "--store"]).text.trimmingCharacters(in: .newlines)
        #expect(try await run(["channels", "list"]).text == channel + "\n")
        #expect(try await run(["channels", "read", "--channel", channel]).text == "stores the newest broadcast\n")
        let broadcast = ["broadcast", "--channel", channel, "--state", #"{"score":"2:1"}"#]
        #expect(try await run(broadcast).status == 0)
        #expect(try await run(["channels", "delete", "--channel", channel]).status == 0)
        let refused = try await run(broadcast)
        #expect(refused.status == 1 && refused.errorOutput.contains("ChannelNotRegistered"))
        #expect(await bench.apns.pushes.map(\.channel?.rawValue) == [channel, channel])
        let family = try await ProgramRun(Self.martlet, ["channels"])
        #expect(family.status == 2 && family.errorOutput.contains("  channels create  "))
        await bench.apns.stop()
    }

    // MARK: doctor

    @Test func `doctor stops at the first failed check and prints advice`() async throws {
        let bench = try await Bench()
        let topic = ["doctor", "--topic", "com.example.app"]
        let server = topic + ["--host", bench.host]
        let key = ["--key", bench.authority, "--team-id", "DEF123GHIJ", "--key-id", "ABC123DEFG"]
        let healthy = try await ProgramRun(Self.martlet, server + ["--ca", bench.authority])
        #expect(healthy.status == 0)
        #expect(healthy.text.split(separator: "\n").map { $0.prefix(4) } == ["ok  ", "ok  ", "ok  ", "ok  "])
        await bench.apns.unregister(try DeviceToken(hex: "5d3a"))
        for (arguments, status, finding) in [
            (topic + ["--host", "nowhere.invalid"], 3, "Check the name server"),
            (topic + ["--host", "localhost:1"], 3, "Check that the server is running"),
            (server, 3, #"for a simulator --ca "$(martlet ca path)""#),
            (topic + key, 2, "the unchanged .p8"),
            (server + ["--ca", bench.authority, "--to", "5d3a"], 1, "The app was removed"),
        ] {
            let run = try await ProgramRun(Self.martlet, arguments)
            #expect(run.status == Int32(status), "\(arguments)")
            #expect(run.text.contains(finding) && !run.text.contains("17.0.0.0"), "\(run.text)\(run.errorOutput)")
            let json = try await ProgramRun(Self.martlet, arguments + ["--json"])
            let report = try JSONReader.read(json.output)
            #expect(json.status == Int32(status) && report["ok"] == false && report["error"] != nil, "\(json.text)")
        }
        await bench.apns.stop()
    }

    @Test(arguments: [-7_200, 7_200]) func `doctor compares the clocks`(seconds: Int) async throws {
        let bench = try await Bench()
        await bench.apns.setFaults([SimulatedAPNs.Fault(.skewClock(.seconds(seconds)))], seed: 1)
        let words = ["doctor", "--topic", "com.example.app", "--host", bench.host, "--ca", bench.authority]
        let run = try await ProgramRun(Self.martlet, words)
        // The server names its time in whole seconds.
        let side = seconds < 0 ? "ahead of" : "behind"
        #expect(run.status == 1 && run.text.contains("seconds \(side) the server's"), "\(run.text)")
        #expect(run.text.contains("bad   clock: this machine's clock is 7,"), "\(run.text)")
        #expect(run.text.contains("Set this machine's clock."))
        await bench.apns.stop()
    }

    @Test func `doctor prints each check`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let host = "http://localhost:\(await apns.port)"
        let run = try await martlet("doctor", "--topic", "com.example.app", "--host", host)
        #expect(run.status == 0 && run.text.contains("network: connected without TLS"), "\(run.text)")
        #expect(!run.text.contains("trusted"), "\(run.text)")
        await apns.stop()
    }

    @Test func `doctor and send list the topics of a certificate`() async throws {
        let bench = try await Bench()
        let files = try await ProviderCertificateFiles()
        let certificate = [
            "--certificate", files.scratch.path + "/certificate.p12", "--certificate-password", "secret",
        ]
        let server = ["--host", bench.host, "--ca", bench.authority] + certificate
        let topics = "com.example.app, com.example.app.voip"
        let healthy = try await ProgramRun(Self.martlet, ["doctor", "--topic", "com.example.app"] + server)
        let line = "certificate: valid, for \(topics), in development and production\n"
        #expect(healthy.status == 0 && healthy.text.contains(line), "\(healthy.text)\(healthy.errorOutput)")
        let other = ["--topic", "com.example.other"] + server
        let wrong = try await ProgramRun(Self.martlet, ["doctor"] + other)
        let advice = "The certificate is for \(topics): give --topic one of them"
        #expect(wrong.status == 1 && wrong.text.contains(advice), "\(wrong.text)\(wrong.errorOutput)")
        let sent = try await ProgramRun(Self.martlet, ["send", "--to", "5d3a", "--body", "x"] + other)
        #expect(
            sent.status == 1 && sent.errorOutput.contains("the certificate is for \(topics)"),
            "\(sent.errorOutput)"
        )
        await bench.apns.stop()
    }

    @Test func `a response of an accessory is sent as a complete payload`() async throws {
        let bench = try await Bench()
        let payload =
            #"{"aps":{"encryptedData":"ZW5jcnlwdGVk","sessionIdentifier":"s-1","keyID":"a2V5","messageIndex":"42"}}"#
        let run = try await bench.send("--push-type", "accessory", "--payload", "-", input: payload)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.headers.topic == "com.example.app.push-type.accessory")
        #expect(push.headers.priority == nil && push.headers.expiration == nil)
        #expect(push.payload == Array(payload.utf8) && push.findings.isEmpty, "\(push.findings)")
        await bench.apns.stop()
    }

    // MARK: token

    @Test(arguments: [("\"", "\"", "iat is a string"), ("", ".5", "not a whole number"), ("", "", nil)])
    func `an unusual token is decoded with its deviations`(before: String, after: String, expected: String?)
        async throws
    {
        func base64URL(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=",
                with: ""
            )
        }
        let issuedAt = "\(before)\(Int64(Date().timeIntervalSince1970))\(after)"
        let header = base64URL(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)
        let claims = base64URL(#"{"iss":"DEF123GHIJ","iat":\#(issuedAt)}"#.utf8)
        let run = try await martlet("token", "\(header).\(claims).\(base64URL([UInt8](repeating: 7, count: 64)))")
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains("unusual") == (expected != nil), "\(run.text)")
        if let expected { #expect(run.text.contains(expected), "\(run.text)") }
        let cut = try await martlet("token", "\(header).\(claims).\(base64URL([UInt8](repeating: 7, count: 63)))")
        #expect(cut.status != 0 && cut.errorOutput.contains("63 bytes"), "\(cut.errorOutput)")
    }

    @Test func `a token signed with a key of openssl is decoded`() async throws {
        let scratch = try ScratchDirectory()
        let key = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        let file = try scratch.write(key.output, to: "AuthKey_ABC123DEFG.p8")
        let run = try await martlet("token", "--key", file, "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ")
        #expect(run.status == 0, "\(run.errorOutput)")
        let explained = try await martlet("token", "bearer " + run.text.trimmingCharacters(in: .newlines))
        #expect(explained.status == 0)
        for fact in ["ABC123DEFG", "DEF123GHIJ", "64 bytes"] { #expect(explained.text.contains(fact)) }
    }

    // MARK: simulate

    @Test(arguments: [
        (["--listen", "0.0.0.0", "--allow-release", "--release-to", "5d3a"], true),
        (["--listen", "127.0.0.2", "--allow-release", "--release-to", "5d3a"], false),
        (["--listen", "0.0.0.0"], false),
    ])
    func `release with a public address prints a warning`(options: [String], hasWarning: Bool) async throws {
        let release = options.contains("--allow-release") ? ["--release-host", "http://localhost:1"] : []
        let arguments = ["simulate", "--h2c", "--port", "0", "--inbox-port", "0"] + options + release
        let simulator = try await MartletProcess(arguments)
        #expect(simulator.errorOutput.contains("--allow-release, other machines can send") == hasWarning)
    }

    @Test func `a server for releases is named with its port`() async throws {
        let simulator = try await SimulatorProcess(
            "--allow-release",
            "--release-to",
            "5d3a",
            "--release-host",
            "[::1]:1"
        )
        defer { simulator.kill() }
        let run = try await ProgramRun.curl(["http://localhost:\(simulator.inboxPort)/api/v1/info"])
        #expect(run.text.contains(#""destination":"[::1]:1""#), "\(run.text)")
    }

    @Test func `simulate needs no directory that can be written`() async throws {
        let scratch = try ScratchDirectory()
        let environment = ["-u", "XDG_DATA_HOME", "-u", "MARTLET_CA_DIRECTORY", "HOME=/dev/null", Self.martlet]
        let simulator = try ChildProcess(
            "/usr/bin/env",
            environment + ["simulate", "--port", "0", "--inbox-port", "0"],
            output: scratch.path + "/output",
            errors: scratch.path + "/errors"
        )
        defer { simulator.kill() }
        try await eventually("the simulator starts, or ends") {
            try scratch.read("output").contains("Press Control-C") || !simulator.isRunning
        }
        let warning = try scratch.read("errors")
        #expect(warning.contains("/dev/null") && warning.contains("give --ca-directory"), "\(warning)")
        simulator.interrupt()
        #expect(await simulator.ended() == 0)
        // The path of a certificate that does not stay is of no use.
        let path = try await ProgramRun("env", environment + ["ca", "path"])
        #expect(path.status == 2 && path.errorOutput.contains("/dev/null"), "\(path.errorOutput)")
    }

    @Test func `simulate ends in order on a signal from the moment that it says how to stop it`() async throws {
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let scratch = try ScratchDirectory()
                    let simulator = try ChildProcess(
                        Self.martlet,
                        ["simulate", "--port", "0", "--inbox-port", "0", "--ca-directory", scratch.path],
                        output: scratch.path + "/output",
                        errors: scratch.path + "/errors"
                    )
                    defer { simulator.kill() }
                    try await eventually("the simulator starts, or ends") {
                        try scratch.read("output").contains("Press Control-C") || !simulator.isRunning
                    }
                    simulator.interrupt()
                    return await simulator.ended()
                }
            }
            for try await status in group { #expect(status == 0) }
        }
    }

    @Test func `simulate prints client settings and each push, and stops on a signal`() async throws {
        let scratch = try ScratchDirectory()
        let simulator = try ChildProcess(
            Self.martlet,
            ["simulate", "--port", "0", "--inbox-port", "0", "--ca-directory", scratch.path],
            output: scratch.path + "/output"
        )
        defer { simulator.kill() }
        func printed(_ pattern: Regex<(Substring, Substring)>) async throws -> String {
            var found: String?
            try await eventually("the simulator prints the text, or ends") {
                if let match = try scratch.read("output").firstMatch(of: pattern) { found = String(match.output.1) }
                return found != nil || !simulator.isRunning
            }
            if let found { return found }
            Issue.record("the simulator ended: \(try scratch.read("output"))")
            return ""
        }
        let host = try await printed(#/(localhost:[0-9]+)/#)
        let run = try await martlet(
            "send",
            "--host",
            host,
            "--ca",
            scratch.path + "/ca.pem",
            "--to",
            "5d3a6a1c",
            "--topic",
            "com.example.app",
            "--body",
            "Hello"
        )
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(try await printed(#/200 +(alert) /#) == "alert")
        simulator.interrupt()
        #expect(await simulator.ended() == 0)
        for client in ["curl", "aioapns", "apns2", "Pushy", "APNSwift", "node", "gorush", "rpush"] {
            #expect(try scratch.read("output").contains(client), "\(client)")
        }
    }
}
