// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// The exit statuses of all commands: one meaning for each, with and without `--json`.
@Suite(.timeLimit(.minutes(10))) struct ExitStatusTests {
    /// A command line; `{host}` and similar names are replaced by values of the test.
    private typealias Line = (words: String, status: Int32)

    private static let sending: [Line] = [
        ("send {server} --to 5d3a --body x", 0), ("send {server} --to dead --body x", 1),
        ("send {server} --to 5d3a --to dead --body x", 1), ("send {server} --tokens {list} --body x", 0),
        ("send {server} --tokens {deadlist} --body x", 1), ("send {server} --tokens {badlist} --body x", 2),
        ("send {server} --tokens {badlist} --body x --dry-run", 2),
        ("send {server} --tokens {badlist} --body x --skip-bad-lines", 0),
        ("send {server} --tokens {list} --dry-run --body x", 0),
        ("send {server} --tokens {list} --dry-run --background --topic com.example.app.voip", 2),
        ("send {closed} --to 5d3a --body x", 3), ("send {closed} --tokens {list} --body x", 3),
        ("send {untrusted} --to 5d3a --body x", 3), ("send {untrusted} --tokens {list} --body x", 3),
        ("send {server} --to 5d3a --body x --custom {", 2), ("send {server} --to 5d3a --payload /nowhere", 2),
        ("send {server} --to 5d3a --payload {list}", 2), ("send {server} --to 5d3a --payload {list} --unchecked", 1),
        ("send {server} --tokens /nowhere --body x", 2), ("send {server} --tokens {list} --body x --rate 0", 2),
        ("send {server} --tokens {list} --body x --rate -1", 2), ("send {server} --to 5d3a", 2),
        ("send {server} --to 5d3a --snapshot {widget}", 0), ("send {server} --to 5d3a --snapshot {widget} --as end", 2),
        ("broadcast {server} --channel dHN0LXNyY2gtY2hubA== --snapshot {widget}", 2),
        ("send {server} --to 5d3a --snapshot {bad}", 2), ("send {server} --to 5d3a --body x --key {bad}", 2),
        ("send {server} --to 5d3a --body x --key {bad} --key-id ABC123DEFG --team-id DEF123GHIJ", 2),
        ("send {server} --to 5d3a --body x --certificate {bad}", 2),
        ("send --host {host} --ca {bad} --topic com.example.app --to 5d3a --body x", 2),
        ("send --host {host} --ca /nowhere --topic com.example.app --to 5d3a --body x", 2),
        ("send --topic com.example.app --to 5d3a --body x", 2),
        ("live update {server} --to 5d3a --state {}", 0), ("live update {server} --to dead --state {}", 1),
        ("live update {closed} --to 5d3a --state {}", 3), ("live update {server} --to 5d3a --state {", 2),
        ("live end {server} --to dead", 1), ("broadcast {server} --channel dHN0LXNyY2gtY2hubA== --state {}", 1),
        ("broadcast {closed} --channel dHN0LXNyY2gtY2hubA== --state {}", 3),
        ("broadcast {server} --channel dHN0LXNyY2gtY2hubA==", 2), ("channels list {server}", 0),
        ("channels read {server} --channel dHN0LXNyY2gtY2hubA==", 1),
        ("channels delete {server} --channel dHN0LXNyY2gtY2hubA==", 1), ("channels list {closed}", 3),
        ("channels list {untrusted}", 3), ("channels list --host {host}", 2), ("doctor {server}", 0),
        ("doctor {server} --to dead", 1), ("doctor {closed}", 3), ("doctor {server} --key {bad}", 2),
    ]

    private static let checking: [Line] = [
        ("relay check --configuration /nowhere", 2), ("relay check --configuration {bad}", 1),
        ("relay check --configuration {nonsense}", 2), ("relay --configuration {nonsense}", 2),
        ("relay migrate --configuration {nonsense}", 2), ("surface validate {nonsense}", 2),
        ("surface validate /nowhere {bad}", 2), ("simulate --listen nowhere", 2), ("relay --http nowhere", 2),
        ("relay --configuration {bad}", 2), ("relay migrate --configuration {bad}", 2),
        ("relay status --url {closedport} --key-file {bad}", 3),
        ("relay status --url {closedport} --key-file /nowhere", 2), ("healthcheck --url {closedport}", 3),
        ("healthcheck --url localhost:99999", 2), ("surface validate {bad}", 1), ("surface validate /nowhere", 2),
        ("surface project {bad}", 2), ("surface migrate {bad}", 2), ("surface example nothing", 2),
        ("surface schema --categories {bad}", 2), ("surface example widget", 0), ("token", 0), ("token abc", 2),
        ("token {expired}", 1), ("ca path --ca-directory {scratch}", 0), ("ca print --ca-directory {bad}", 2),
        ("version", 0), ("live", 2), ("live --help", 0), ("help relay keys", 0), ("nothing", 2), ("completion tcsh", 2),
    ]

    @Test(arguments: (sending + checking).indices)
    func `a status has one meaning, and --json prints JSON`(index: Int) async throws {
        let line = (Self.sending + Self.checking)[index]
        let isSending = index < Self.sending.count
        let apns = isSending ? try await SimulatedAPNs.start() : nil
        let scratch = try ScratchDirectory()
        let closed = try SilentServer.unusedPort()
        var names = ["{closed}": "--topic com.example.app --host http://localhost:\(closed.port)"]
        if let apns {
            await apns.unregister(try DeviceToken(hex: "dead"), since: Date(timeIntervalSince1970: 1_790_000_000))
            let host = "localhost:\(await apns.port)"
            let authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            names["{host}"] = host
            names["{untrusted}"] = "--topic com.example.app --host \(host)"
            names["{server}"] = "--topic com.example.app --host \(host) --ca \(authority)"
        }
        names["{closedport}"] = "localhost:\(closed.port)"
        names["{list}"] = try scratch.write("5d3a\n5d3b\n", to: "list")
        names["{deadlist}"] = try scratch.write("5d3a\ndead\n", to: "deadlist")
        names["{badlist}"] = try scratch.write("5d3a\nnonsense\n", to: "badlist")
        names["{bad}"] = try scratch.write("{}", to: "bad.json")
        names["{nonsense}"] = try scratch.write("{", to: "nonsense.json")
        names["{widget}"] = try scratch.write(SurfaceSnapshot.example(of: .widget).json.encoded(), to: "widget.json")
        names["{scratch}"] = scratch.path
        // Issued in 2001 by {"alg":"ES256","kid":"ABC123DEFG"}, with a signature of 64 bytes.
        names["{expired}"] =
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxMDAwMDAwMDAwfQ."
            + String(repeating: "B", count: 85) + "A"
        let words = names.reduce(line.words) { $0.replacing($1.key, with: $1.value) }.split(separator: " ")
            .map(String.init)
        let run = try await ProgramRun(MartletProcess.program, words)
        #expect(run.status == line.status, "\(line.words): \(run.text)\(run.errorOutput)")
        if run.status != 0 { #expect(!(run.text + run.errorOutput).isEmpty, "\(line.words)") }
        guard !line.words.contains("help") else { return }
        let json = try await ProgramRun(MartletProcess.program, words + ["--json"])
        #expect(json.status == line.status, "\(line.words): \(json.text)\(json.errorOutput)")
        let values = try json.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        #expect(!values.isEmpty && values.allSatisfy { $0.members != nil }, "\(line.words): \(json.text)")
        if [2, 3].contains(line.status) {
            let value = try #require(values.last { $0["error"] != nil })
            #expect(value["error"]?.stringValue != nil && value["message"]?.stringValue != nil, "\(json.text)")
        }
        await apns?.stop()
    }

    @Test func `the highest status applies to several devices`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        await apns.unregister(try DeviceToken(hex: "dead"), since: Date(timeIntervalSince1970: 1_790_000_000))
        let fault = SimulatedAPNs.Fault(.resetStream(code: 2), with: SimulatedAPNs.Fault.Match(devicePrefix: "aaaa"))
        await apns.setFaults([fault], seed: 1)
        let scratch = try ScratchDirectory()
        let list = try scratch.write("5d3a\ndead\naaaa\n", to: "list")
        let host = "http://localhost:\(await apns.port)"
        let words = ["send", "--host", host, "--topic", "com.example.app", "--body", "x", "--no-retry"]
        for devices in [["--to", "5d3a", "--to", "dead", "--to", "aaaa"], ["--tokens", list]] {
            let run = try await ProgramRun(MartletProcess.program, words + devices)
            #expect(run.status == 3, "\(run.text)\(run.errorOutput)")
        }
        await apns.stop()
    }
}
