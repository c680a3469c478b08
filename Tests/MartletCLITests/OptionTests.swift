// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of options that several subcommands share.
@Suite(.timeLimit(.minutes(10))) struct OptionTests {
    private func martlet(_ words: [String], environment: [String] = []) async throws -> ProgramRun {
        try await ProgramRun("env", environment + [MartletProcess.program] + words)
    }

    /// The header fields and the payload that `send --describe --json` prints; Apple's host needs no key for that.
    private func described(_ words: String...) async throws -> JSONValue {
        let send = ["send", "--describe", "--json", "--topic", "com.example.app", "--to", "5d3a"]
        let run = try await martlet(send + words)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        return try JSONReader.read(run.output)
    }

    // MARK: Values

    @Test(arguments: [
        ("0", 0), ("1790000000", 1_790_000_000), ("2026-09-21T13:33:20Z", 1_789_997_600),
        ("2026-09-21T15:33:20.5+02:00", 1_789_997_600),
    ])
    func `an expiration is a number or a date`(text: String, seconds: Int) async throws {
        let push = try await described("--body", "x", "--expiration", text)
        #expect(push["fields"]?["apns-expiration"]?.stringValue == "\(seconds)")
    }

    @Test(arguments: [("+90s", 90), ("+15m", 900), ("+1h30m", 5_400), ("+2d", 172_800)])
    func `an expiration is a duration from now`(text: String, seconds: Int) async throws {
        let start = Int(Date().timeIntervalSince1970)
        let push = try await described("--body", "x", "--expiration", text)
        let end = Int(Date().timeIntervalSince1970)
        let found = try #require(push["fields"]?["apns-expiration"]?.stringValue.flatMap(Int.init))
        #expect((start + seconds...end + seconds).contains(found))
    }

    @Test(arguments: [
        (["--expiration", "tomorrow"], "must be seconds since 1970"), (["--expiration", "-1"], "must be seconds"),
        (["--expiration", "+"], "must be seconds"), (["--expiration", "+1"], "must be seconds"),
        (["--expiration", "+99999999999999999999d"], "must be seconds"), (["--badge", "x"], "must be an integer"),
        (["--priority", "7"], "must be one of 10, 5, 1 (found \"7\")"),
        (["--push-type", "alrt"], "did you mean alert?"),
        (["--interruption-level", "loud"], "must be one of passive, active, time-sensitive, critical"),
        (["--custom", "[]"], "--custom <json>"), (["--rate", "5"], "need --tokens"),
        (["--certificate-password", "x"], "requires --certificate"), (["--attributes-type", "X"], "need --snapshot"),
    ])
    func `a value that breaks a rule is reported with the rule`(words: [String], message: String) async throws {
        let run = try await martlet(["send", "--topic", "a", "--to", "5d3a", "--describe", "--body", "x"] + words)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
    }

    @Test func `a file that cannot be read is reported with the reason and the directory`() async throws {
        let run = try await martlet(["send", "--topic", "a", "--to", "5d3a", "--payload", "no/such.json"])
        let directory = FileManager.default.currentDirectoryPath
        let reason = "no such file or directory (in \(directory))"
        #expect(run.errorOutput.contains("no/such.json cannot be read: \(reason)"))
        let key = ["--key", "/etc", "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ"]
        let other = try await martlet(["token"] + key)
        #expect(other.status == 2 && other.errorOutput.contains("/etc cannot be read: "), "\(other.errorOutput)")
    }

    @Test(arguments: [
        ("MARTLET_TEAM_ID=short", "MARTLET_TEAM_ID: must be ten characters"),
        ("MARTLET_KEY_ID=short", "MARTLET_KEY_ID: must be ten characters"),
        ("MARTLET_KEY=/nowhere", "MARTLET_KEY /nowhere cannot be read: no such file"),
        ("MARTLET_KEY=/dev/null", "MARTLET_KEY /dev/null: the signing key cannot be used"),
    ])
    func `an error names the variable that a value comes from`(variable: String, message: String) async throws {
        let ids = ["MARTLET_KEY_ID=ABC123DEFG", "MARTLET_TEAM_ID=DEF123GHIJ", variable]
        let run = try await martlet(["token"], environment: ids)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
        #expect(!run.errorOutput.contains("--key"), "\(run.errorOutput)")
    }

    @Test func `invalid UTF-8 in variables and arguments is rejected and not printed`() async throws {
        for line in [
            #"MARTLET_CERTIFICATE_PASSWORD=$(printf 'secr\351t') "$0" version"#,
            #""$0" version --certificate-password "$(printf 'secr\351t')""#,
        ] {
            for (suffix, isJSON) in [("", false), (" --json", true)] {
                let run = try await ProgramRun("/bin/sh", ["-c", line + suffix, MartletProcess.program])
                let message = isJSON ? run.text : run.errorOutput
                #expect(run.status == 2 && message.contains("is not valid UTF-8"), "\(run.text)\(run.errorOutput)")
                #expect(!message.contains("secr") && message.hasPrefix("{") == isJSON, "\(message)")
            }
        }
    }

    // MARK: Variables

    @Test(arguments: [("off", true), ("on", true), ("", true), ("no", false), ("OFF", false)])
    func `MARTLET_RETRY is on or off`(value: String, isAccepted: Bool) async throws {
        let run = try await martlet(["version"], environment: ["MARTLET_RETRY=\(value)"])
        #expect(run.status == (isAccepted ? 0 : 2))
        #expect(isAccepted || run.errorOutput.contains("MARTLET_RETRY must be on or off"), "\(run.errorOutput)")
    }

    @Test func `a variable has the same meaning in every command`() async throws {
        let port = try SilentServer.unusedPort()
        let variable = ["MARTLET_URL=nonsense://", "MARTLET_RELAY_URL=nonsense://"]
        let address = "http://127.0.0.1:\(port.port)"
        let check = try await martlet(["healthcheck"], environment: variable + ["MARTLET_HEALTHCHECK_URL=\(address)"])
        #expect(check.errorOutput.contains("\(address) is not ready"))
        let scratch = try ScratchDirectory()
        let key = try scratch.write("mrt_key\n", to: "key")
        let status = try await martlet(
            ["relay", "status", "--key-file", key],
            environment: ["MARTLET_HEALTHCHECK_URL=nonsense://", "MARTLET_RELAY_URL=127.0.0.1:\(port.port)"]
        )
        #expect(status.status == 3 && status.errorOutput.contains("cannot connect to 127.0.0.1:\(port.port)"))
    }

    // MARK: Credentials and retries

    @Test func `a certificate authenticates, from PEM and from PKCS#12`() async throws {
        let apns = try await SimulatedAPNs.start()
        let files = try await ProviderCertificateFiles()
        let directory = files.scratch.path
        let authority = try files.scratch.write(apns.authorityPEM, to: "ca.pem")
        let both = try files.scratch.read("certificate.pem") + files.scratch.read("key.pem")
        let pem = try files.scratch.write(both, to: "both.pem")
        let password = try files.scratch.write("secret\r\n", to: "password")
        let port = await apns.port
        let server = [
            "send", "--host", "localhost:\(port)", "--ca", authority, "--topic", "com.example.app", "--to",
            "5d3a", "--body", "x",
        ]
        let archive = ["--certificate", directory + "/certificate.p12"]
        let encrypted = try await ProgramRun(
            "openssl",
            ["rsa", "-in", directory + "/key.pem", "-aes256", "-passout", "pass:secret"]
        )
        let locked = try files.scratch.write(
            files.scratch.read("certificate.pem") + encrypted.text,
            to: "locked.pem"
        )
        for credentials in [
            ["--certificate", pem], archive + ["--certificate-password", "secret"],
            ["--certificate", both], ["--certificate", locked, "--certificate-password", "secret"],
            archive + ["--certificate-password-file", password],
        ] {
            let run = try await martlet(server + credentials)
            #expect(run.status == 0, "\(credentials): \(run.text)\(run.errorOutput)")
        }
        #expect(await apns.pushes.map(\.deviceToken) == ["5d3a", "5d3a", "5d3a", "5d3a", "5d3a"])
        let unopened = try await martlet(server + ["--certificate", locked])
        #expect(unopened.status == 2 && unopened.errorOutput.contains("encrypted"), "\(unopened.errorOutput)")
        let wrong = try await martlet(server + archive + ["--certificate-password", "wrong"])
        #expect(wrong.status == 2 && !wrong.errorOutput.contains("wrong"), "\(wrong.errorOutput)")
        let two = try await martlet(server + ["--certificate", pem, "--key-id", "ABC123DEFG"])
        #expect(two.status == 2 && two.errorOutput.contains("exclude each other"))
        await apns.stop()
    }

    @Test(arguments: [(["--no-retry"], 1), ([], 2)])
    func `retries can be turned off`(words: [String], count: Int) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        await apns.setFaults([SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 0), count: 1)], seed: 1)
        let port = await apns.port
        let server = ["--host", "http://localhost:\(port)", "--topic", "com.example.app", "--to", "5d3a"]
        let run = try await martlet(["send", "--body", "x"] + server + words)
        #expect(run.status == (count == 1 ? 1 : 0), "\(run.text)\(run.errorOutput)")
        #expect(await apns.pushCount == count)
        await apns.stop()
    }

    @Test func `the error for an untrusted simulator names the option to trust it`() async throws {
        let apns = try await SimulatedAPNs.start()
        let port = await apns.port
        let server = ["--host", "localhost:\(port)", "--topic", "com.example.app"]
        for words in [
            ["send", "--to", "5d3a", "--body", "x"], ["live", "end", "--to", "5d3a"], ["channels", "list"],
        ] {
            let run = try await martlet(words + server)
            #expect(run.status == 3 && run.errorOutput.contains(#"--ca "$(martlet ca path)""#), "\(run.errorOutput)")
        }
        await apns.stop()
    }

    // MARK: Live Activities and snapshots

    @Test func `options of Live Activities are sent`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let server = ["--host", "http://localhost:\(port)", "--topic", "com.example.app"]
        let headers = ["--priority", "10", "--expiration", "1790000000", "--timestamp", "1789990000"]
        let content = ["--stale-date", "2026-09-21T13:33:20Z", "--relevance-score", "0.5"]
        let start = ["--attributes-type", "A", "--attributes", "{}", "--title", "t", "--body", "b"]
        let channel = try await martlet(["channels", "create", "--store"] + server).text.prefix { $0 != "\n" }
        for words in [
            ["live", "start", "--to", "5d3a", "--state", "{}"] + start + content,
            ["live", "update", "--to", "5d3b", "--state", "{}"] + content, ["live", "end", "--to", "5d3b"],
            ["broadcast", "--channel", String(channel), "--state", "{}"] + content,
        ] {
            let run = try await martlet(words + headers + server)
            #expect(run.status == 0, "\(words): \(run.text)\(run.errorOutput)")
        }
        let pushes = await apns.pushes
        #expect(pushes.count == 4)
        for push in pushes {
            #expect(push.headers.priority == "10" && push.headers.expiration == "1790000000")
            let aps = try JSONReader.read(push.payload)["aps"]
            #expect(aps?["timestamp"] == 1_789_990_000)
            guard aps?["event"] != "end" else { continue }
            #expect(aps?["stale-date"] == 1_789_997_600)
            #expect(aps?["relevance-score"]?.encoded() == Array("0.5".utf8))
        }
        await apns.stop()
    }

    @Test func `a snapshot is broadcast, may have a schema, and starts activities of any type`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let scratch = try ScratchDirectory()
        let port = await apns.port
        let server = ["--host", "http://localhost:\(port)", "--topic", "com.example.app"]
        let example = try await martlet(["surface", "example", "liveActivity"]).text
        let file = try scratch.write(#"{"$schema":"https://example.com","# + example.dropFirst(), to: "order.json")
        let channel = try await martlet(["channels", "create"] + server).text.prefix { $0 != "\n" }
        for words in [
            ["broadcast", "--channel", String(channel), "--snapshot", file],
            ["broadcast", "--channel", String(channel), "--snapshot", file, "--end"],
            ["send", "--to", "5d3a", "--snapshot", file, "--as", "start", "--attributes-type", "OrderAttributes"],
        ] {
            let run = try await martlet(words + server)
            #expect(run.status == 0, "\(words): \(run.text)\(run.errorOutput)")
        }
        let payloads = try await apns.pushes.map { try JSONReader.read($0.payload)["aps"] }
        #expect(payloads.map { $0?["event"] } == ["update", "end", "start"])
        #expect(payloads.last??["attributes-type"] == "OrderAttributes")
        for command in ["validate", "project", "migrate"] {
            let run = try await martlet(["surface", command, file])
            #expect(run.status == 0 && !run.text.contains("$schema"), "\(run.text)\(run.errorOutput)")
        }
        await apns.stop()
    }

    @Test func `--describe prints the request without a key, as text and JSON`() async throws {
        let push = try await described("--body", "Hello")
        #expect(push["payload"] == ["aps": ["alert": ["body": "Hello"]]])
        #expect(push["fields"]?[":path"] == "/3/device/5d3a" && push["fields"]?["apns-push-type"] == "alert")
        #expect(push["bytes-left"]?.integerValue.map { $0 < 4_096 } == true && push["findings"] == [])
        let text = try await martlet(["send", "--describe", "--topic", "a.b", "--to", "5d3a", "--body", "x"])
        #expect(text.status == 0 && text.text.contains("apns-topic: a.b\n"))
    }

    // MARK: simulate

    @Test func `the file of a running relay is not migrated`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = server.address(of: try await server.makeDatabase())
        let relay = try await RelayProcess(to: ["host": "localhost", "port": 1])
        try await relay.start()
        let file = relay.scratch.path + "/relay.sqlite"
        let run = try await martlet(["relay", "migrate", "--data", database, "--from", file])
        #expect(run.status == 2 && run.errorOutput.contains("a relay still uses the file"), "\(run.errorOutput)")
        relay.kill()
    }

    @Test func `a file with a surface is not migrated`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = server.address(of: try await server.makeDatabase())
        let relay = try await RelayProcess(to: ["host": "localhost", "port": 1])
        try await relay.start()
        let snapshot = SurfaceSnapshot.example(of: .widget)
        let path = "/v1/apps/app/surfaces/\(snapshot.surfaceID)"
        let json = String(decoding: snapshot.json.encoded(), as: UTF8.self)
        let body = #"{"to":{"all":true},"snapshots":[\#(json)]}"#
        let stored = await relay.ask([RawHTTP1.Request("PUT", path, body: body)])
        #expect(stored.first?.status == 201, "\(stored)")
        #expect(await relay.stop() == 0)
        let file = relay.scratch.path + "/relay.sqlite"
        let run = try await martlet(["relay", "migrate", "--data", database, "--from", file])
        #expect(run.status == 1 && run.errorOutput.contains("may be on phones"), "\(run.text)\(run.errorOutput)")
        #expect(run.text.isEmpty, "\(run.text)")
    }

    @Test func `a port that is taken is reported with its option`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false))
        let taken = "\(await apns.port)"
        let free = ["simulate", "--h2c", "--port", "0", "--inbox-port", "0"]
        for option in ["--port", "--channel-port", "--inbox-port"] {
            let words = free + [option, taken]
            let once = option == "--channel-port" ? words : words.removingPair(option)
            let run = try await martlet(once)
            #expect(run.status == 1 && run.errorOutput.contains("(\(option))"), "\(run.text)\(run.errorOutput)")
        }
        await apns.stop()
    }

    // MARK: Help

    @Test func `the help of every command fits in 100 columns and has an example`() async throws {
        let manual = try await martlet(["manual"])
        let names = manual.text.split(separator: "\n").filter { $0.hasPrefix(".SS martlet ") }
            .map { $0.dropFirst(12).replacing("\\-", with: "-") }
        #expect(names.count > 25)
        for name in names + ["live", "channels", "surface", "relay keys", "relay data", "ca"] {
            let words = name.split(separator: " ").map(String.init)
            let help = try await martlet(words + ["--help"])
            #expect(help.status == 0 && help.text.hasPrefix("martlet \(name): "), "\(help.text)\(help.errorOutput)")
            for line in help.text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        }
    }
}

extension [String] {
    /// The words without the first occurrence of an option and its value.
    fileprivate func removingPair(_ option: String) -> [String] {
        guard let index = firstIndex(of: option), index + 1 < count else { return self }
        return Array(self[..<index] + self[(index + 2)...])
    }
}
