// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// `martlet relay` as a service: a process with a service manager, signals and people.
@Suite(.timeLimit(.minutes(10))) struct ServiceTests {
    static let martlet = MartletProcess.program

    /// A relay in a process of its own, which has said that it is ready.
    private final class Service {
        let file: ConfigurationFile
        let manager: NotifySocket
        let process: ChildProcess

        init(_ text: String = ConfigurationFile.good) async throws {
            file = try ConfigurationFile(text)
            manager = try NotifySocket()
            process = try ChildProcess(
                "env",
                [
                    "NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=40000", "JOURNAL_STREAM=8:1",
                    ServiceTests.martlet, "relay", "--configuration", file.path,
                ],
                output: file.directory.path + "/output",
                errors: file.directory.path + "/log"
            )
            await manager.wait(for: "READY=1")
        }

        deinit {
            process.kill()
        }

        var httpPort: String {
            get throws {
                let output = try file.directory.read("output")
                return String(try #require(output.firstMatch(of: /JSON on port ([0-9]+)/)).1)
            }
        }

        func log() throws -> [(priority: String, line: JSONValue)] {
            try file.directory.read("log").split(separator: "\n").map { line in
                let json = line.drop { $0 != "{" }
                return (String(line.prefix(3)), try JSONReader.read(Array(json.utf8)))
            }
        }
    }

    @Test func `systemd receives the state of the relay from start to stop`() async throws {
        let service = try await Service()
        await service.manager.wait(for: "WATCHDOG=1", count: 3)
        await service.manager.wait(for: "STATUS=accepts pushes for 1 app; 0 in flight, 0 sent")
        service.process.signal(SIGTERM)
        await service.manager.wait(for: "STOPPING=1")
        #expect(await service.process.ended() == 0)
        let log = try service.log()
        #expect(log.allSatisfy { $0.priority == "<6>" && $0.line["level"] == "info" }, "\(log)")
        #expect(log.last?.line["msg"] == "relay stopped")
    }

    @Test func `SIGHUP reloads the configuration, and ignores an invalid one`() async throws {
        let key = CallerKey()
        let service = try await Service()
        let address = "http://127.0.0.1:\(try service.httpPort)"
        let keyFile = try service.file.directory.write(key.text + "\n", to: "key")
        let ask = ["relay", "status", "--json", "--url", address, "--key-file", keyFile]
        #expect(try await ProgramRun(Self.martlet, ask).text.contains("the relay answers 401"))

        let hash = String(repeating: "0a", count: 32)
        let new = ConfigurationFile.good((hash, try key.hash), ("\"rate\": 100", "\"rate\": 50"))
        try service.file.directory.write(new, to: "relay.json")
        service.process.signal(SIGHUP)
        await service.manager.wait(for: "RELOADING=1")
        await service.manager.wait(for: "READY=1", count: 2)
        #expect(service.manager.all.contains { $0.wholeMatch(of: /MONOTONIC_USEC=[0-9]+/) != nil })
        let status = try JSONReader.read(try await ProgramRun(Self.martlet, ask).output)
        #expect(status["apps"]?.elements?.first?["rate"] == 50)

        try service.file.directory.write("{", to: "relay.json")
        service.process.signal(SIGHUP)
        await service.manager.wait(for: "READY=1", count: 3)
        #expect(try await ProgramRun(Self.martlet, ask).status == 0)
        service.process.signal(SIGINT)
        #expect(await service.process.ended() == 0)
        let errors = try service.log().filter { $0.priority == "<3>" }
        #expect(errors.count == 1 && errors.first?.line["error"]?.stringValue?.contains("is not valid JSON") == true)
    }

    @Test func `a second SIGTERM ends the relay without losing a push`() async throws {
        // It takes connections, and never says a word on them: a push is on its way for long.
        let silent = try SilentServer()
        let key = CallerKey()
        let hash = String(repeating: "0a", count: 32)
        let apple = #""apple": {"production": {"host": "127.0.0.1", "port": \#(silent.port), "clear": true}}, "data""#
        let service = try await Service(ConfigurationFile.good((hash, try key.hash), ("\"data\"", apple)))
        let port = try #require(UInt16(try service.httpPort))
        let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#
        let fields = ["authorization: bearer \(key.text)"]
        let pushed = await RawHTTP1.ask([RawHTTP1.Request("POST", "/v1/pushes", fields, body: body)], at: port)
        #expect(pushed.first?.status == 202)
        await silent.waitForClient()
        service.process.signal(SIGTERM)
        await service.manager.wait(for: "STOPPING=1")
        service.process.signal(SIGTERM)
        #expect(await service.process.ended() == -SIGTERM)
        let outbox = try await SQLiteOutbox(file: service.file.directory.path + "/relay.sqlite")
        #expect(try await outbox.backlog().map(\.count) == [1])
        await outbox.close(isInOrder: true)
    }

    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyzer), "systemd-analyze is not installed"))
    func `systemd-analyze accepts the unit and its security`() async throws {
        let scratch = try ScratchDirectory()
        let unit = try String(contentsOfFile: "Packaging/martlet-relay.service", encoding: .utf8)
        let file = try scratch.write(
            unit.replacing("/usr/bin/martlet", with: Self.martlet),
            to: "martlet-relay.service"
        )
        let verified = try await ProgramRun(Self.analyzer, ["verify", "--man=no", file])
        #expect(verified.status == 0 && verified.errorOutput.isEmpty, "\(verified.errorOutput)")
        // From 0, nothing to fear, to 100.
        let judged = try await ProgramRun(Self.analyzer, ["security", "--offline=true", "--threshold=15", file])
        #expect(judged.status == 0, "\(judged.text)")
    }

    @Test func `a missing file is reported, and a check opens nothing`() async throws {
        let none = try await ProgramRun(Self.martlet, ["relay", "--configuration", "/nowhere/relay.json"])
        #expect(none.status == 2 && none.errorOutput.contains("/nowhere/relay.json cannot be read: no such file"))
        let file = try ConfigurationFile()
        let check = try await ProgramRun(Self.martlet, ["relay", "check", "--configuration", file.path])
        #expect(check.status == 0 && check.text.contains("orders  com.example.orders  production"), "\(check.text)")
        #expect(!FileManager.default.fileExists(atPath: file.directory.path + "/relay.sqlite"))
    }

    @Test func `a check fails when the certificate of the server has expired`() async throws {
        let file = try ConfigurationFile(
            ConfigurationFile.good(
                (#""http":"#, #""certificate": "server.pem", "certificate-key": "server.key", "http":"#)
            )
        )
        let directory = file.directory.path + "/"
        let subject = ["-subj", "/CN=localhost"]
        let request = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        let made = try await ProgramRun(
            "openssl",
            request + ["-keyout", directory + "server.key", "-out", directory + "request.pem"] + subject
        )
        #expect(made.status == 0, "\(made.errorOutput)")
        for (days, status) in [("2", 0), ("-1", 1)] as [(String, Int32)] {
            let signed = try await ProgramRun(
                "openssl",
                ["x509", "-req", "-in", directory + "request.pem", "-signkey", directory + "server.key"]
                    + ["-days", days, "-out", directory + "server.pem"]
            )
            #expect(signed.status == 0, "\(signed.errorOutput)")
            let check = try await ProgramRun(Self.martlet, ["relay", "check", "--configuration", file.path])
            #expect(check.status == status, "\(days): \(check.text)\(check.errorOutput)")
            #expect(check.errorOutput.contains("certificate: a certificate expired at") == (status == 1))
        }
    }

    @Test func `a generated key is accepted by a relay with its entry`() async throws {
        let words = ["relay", "keys", "make", "--name", "back end", "--apps", "orders", "--scopes", "read,manage"]
        let made = try await ProgramRun(Self.martlet, words).text.split(separator: "\n").map(String.init)
        let entry = try JSONReader.read(Array(try #require(made.last).utf8))
        #expect(try entry["key-sha256"]?.stringValue == RelayBench.hash(made[0]) && entry["name"] == "back end")
        #expect(entry["apps"] == ["orders"] && entry["scopes"] == ["read", "manage"])
    }
}

/// The commands that ask a running relay.
@Suite(.timeLimit(.minutes(10))) struct RelayQuestionTests {
    private func ask(_ bench: RelayBench, _ words: String...) async throws -> ProgramRun {
        let keyFile = try bench.directory.write(RelayBench.callerKey + "\n", to: "key")
        let port = await bench.relay.httpPort ?? 0
        return try await ProgramRun(
            ServiceTests.martlet,
            ["relay"] + words + ["--url", "http://127.0.0.1:\(port)", "--key-file", keyFile]
        )
    }

    @Test func `commands print tables, and JSON with --json`() async throws {
        let bench = try await RelayBench { $0.http = RelayConfiguration.Address(port: 0) }
        #expect(await bench.push().json["state"] == "delivered")
        let status = try await ask(bench, "status")
        #expect(status.status == 0, "\(status.errorOutput)")
        #expect(status.text.contains("orders  production"), "\(status.text)")
        #expect(!status.text.contains("rides"))
        let json = try JSONReader.read(try await ask(bench, "status", "--json").output)
        #expect(json["lanes"]?.elements?.first?["outcomes"]?["delivered"] == 1)
        #expect(try await ask(bench, "apps").text.contains("orders  com.example.orders  production"))
        let letters = try await ask(bench, "dead-letters", "--app", "orders")
        #expect(letters.status == 0 && letters.text.hasPrefix("push"))
        #expect(try await ask(bench, "dead-letters", "requeue", "--app", "orders").text == "0 requeued\n")
        let refused = try await ask(bench, "dead-letters", "--app", "rides")
        #expect(refused.status == 1 && refused.errorOutput.contains("403: this key is not for the app rides"))
        let key = try await ask(bench, "dead-letters", "--app", RelayBench.callerKey)
        #expect(key.status == 1 && !(key.text + key.errorOutput).contains(RelayBench.callerKey), "\(key.errorOutput)")
        #expect(try await ask(bench, "drain").errorOutput.contains("403: this key is not for all apps"))
        let port = await bench.relay.httpPort ?? 0
        let check = try await ProgramRun(ServiceTests.martlet, ["healthcheck", "--url", "http://127.0.0.1:\(port)"])
        #expect(check.status == 0)
        await bench.stop()
    }

    @Test func `the status shows a rejected reload`() async throws {
        let bench = try await RelayBench {
            $0.http = RelayConfiguration.Address(port: 0)
            $0.callers[0].apps = ["orders", "rides"]
        }
        await bench.relay.recordRejectedReload(RelayError("relay.json is not valid JSON"))
        let status = try await ask(bench, "status")
        #expect(status.text.contains("warning: The new configuration was rejected since "), "\(status.text)")
        #expect(status.text.contains("(relay.json is not valid JSON)"), "\(status.text)")
        await bench.stop()
    }

    @Test func `the error for a missing key names its option`() async throws {
        let run = try await ProgramRun(
            "env",
            ["-u", "MARTLET_RELAY_KEY_FILE", ServiceTests.martlet, "relay", "status"]
        )
        #expect(
            run.status == 2
                && run.errorOutput.contains("--key-file <file> is missing (or the variable MARTLET_RELAY_KEY_FILE)")
        )
    }
}
