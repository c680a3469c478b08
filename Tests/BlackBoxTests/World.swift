// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The environment of invocations: a simulator, optionally a relay, and a directory with files.
struct World: Sendable {
    private let simulator: SimulatorProcess
    private let scratch: ScratchDirectory
    private var relay: RelayProcess?

    /// Starts a simulator with TLS, and writes the files of the invocations.
    init() async throws {
        simulator = try await SimulatorProcess(isEncrypted: true, "--quiet")
        scratch = try ScratchDirectory()
        try scratch.write(simulator.authorityPEM ?? "", to: "ca.pem")
        let key = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        try scratch.write(key.output, to: "AuthKey_ABC123DEFG.p8")
        let otherKey = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        try scratch.write(otherKey.output, to: "other.p8")
        try scratch.write("no key\n", to: "AuthKey_BAD1234567.p8")
        for (name, text) in World.files { try scratch.write(text, to: name) }
        try scratch.write([0xFF, 0xFE, 0x0A], to: "binary.p8")
    }

    /// Starts a relay that sends to the simulator.
    mutating func startRelay() async throws {
        let authority = try scratch.write(simulator.authorityPEM ?? "", to: "apple.pem")
        let relay = try await RelayProcess(
            to: ["host": "localhost", "port": Int(simulator.port), "authorities": authority]
        )
        try await relay.start()
        self.relay = relay
    }

    /// Returns a shell script that runs the program with arguments in the directory of the files.
    func script(for line: String) -> String {
        var settings = [
            "martlet": MartletProcess.program,
            "server": "--host localhost:\(simulator.port) --ca ca.pem",
            "devicetoken": World.device,
            "device": "--to \(World.device) --topic com.example.app",
            "inbox": "http://127.0.0.1:\(simulator.inboxPort)",
            "port": "\(simulator.port)",
            "inboxport": "\(simulator.inboxPort)",
            "directory": scratch.path,
            "HOME": scratch.path,
        ]
        if let relay {
            settings["relay"] = "--url http://127.0.0.1:\(relay.httpPort)"
            settings["relayhost"] = "--host http://localhost:\(relay.port)"
            settings["relaykey"] = "--key \(relay.scratch.path)/key.p8 --key-id ABC123DEFG --team-id DEF123GHIJ"
            settings["relayport"] = "\(relay.httpPort)"
            settings["configuration"] = relay.configuration
        }
        let assignments = settings.map { "\($0.key)='\($0.value)'" }.sorted().joined(separator: "\n")
        return """
            \(assignments)
            export HOME
            unset NO_COLOR XDG_DATA_HOME
            cd "$directory" || exit 99
            "$martlet" \(line)
            """
    }

    // MARK: Requests

    /// The number of requests that the simulator has received.
    func requestCount() async throws -> Int {
        let cursor = try await inbox("/api/v1/cursor")["cursor"] as? Int
        return try #require(cursor)
    }

    /// Waits for requests, and returns those after the first `count` as lines: target, headers and payload.
    func requests(after count: Int, expected: Int) async throws -> [String] {
        // A relay may answer before it has sent the push.
        if expected > 0 { _ = try await inbox("/api/v1/pushes/wait?since=\(count)&count=\(expected)&timeout=15") }
        let list = try await inbox("/api/v1/pushes?limit=1000")
        let pushes = try #require(list["pushes"] as? [[String: Any]])
        return try pushes.filter { ($0["number"] as? Int ?? 0) > count }.map { push in
            let target = push["device-token"].map { "device: \($0)" } ?? "channel: \(push["channel"] ?? "none")"
            let headers = try #require(push["headers"] as? [String: String])
            let payload = try JSONSerialization.data(
                withJSONObject: push["payload"] ?? [String: String](),
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
            let lines = [target] + headers.map { "\($0.key): \($0.value)" }.sorted()
            return (lines + [String(decoding: payload, as: UTF8.self)]).joined(separator: "\n")
        }
    }

    /// Returns the JSON object that the simulator's inbox has at a path.
    private func inbox(_ path: String) async throws -> [String: Any] {
        let answer = try #require(await RawHTTP1.ask([.init("GET", path)], at: simulator.inboxPort).first)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return try #require(object)
    }

    // MARK: Files

    static let device = "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac"

    private static let files = [
        "payload.json": #"{"aps":{"alert":{"title":"Order ready","body":"Tap"},"sound":"default"},"order":7}"#,
        "broken.json": #"{"aps":"#,
        "badge.json": #"{"aps":{"alert":"Tap","badge":-1}}"#,
        "categories.json":
            #"{"schemaVersion":"1","categories":[{"id":"orders.ready","description":"Ready.","actions":[]}]}"#,
        "own.json":
            #"{"$schema":"surface.schema.json","schemaVersion":"5","id":"a@1","surfaceId":"a","kind":"notification","#
            + #""updatedAt":"2026-05-12T18:31Z","state":"active","notification":{"title":"Ready","body":"","#
            + #""deepLink":"shop://orders/17","category":"orders.ready"}}"#,
        "experiment.json": #"{"schemaVersion":"5","id":"a@1","surfaceId":"a","kind":"watchFace","#
            + #""updatedAt":"2026-05-12T18:31Z","state":"active","watchFace":{"minutes":9}}"#,
        "strings.json": #"{"sourceLanguage":"en","version":"1.0","strings":{"ORDER_READY":{"localizations":{"en":"#
            + #"{"stringUnit":{"state":"translated","value":"x"}}}},"PICK_UP_UNTIL":{"localizations":{"en":"#
            + #"{"stringUnit":{"state":"translated","value":"x"}}}}}}"#,
        "empty.key": "",
        "operator.key": RelayProcess.callerKey + "\n",
        "wrong.key": "mrt_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n",
        "tokens.txt": "5d3a6a1c8f9a42d6\n5d3a6a1c8f9a42d7\n5d3a6a1c8f9a42d8\n",
        "tokens-unregistered.txt": "5d3a6a1c8f9a42d6\n5d3a00dead\n",
        "tokens-bad.txt": "5d3a6a1c8f9a42d6\nnot-a-token\n",
        "phones.csv": "user,token\nanna,5d3a6a1c8f9a42d6\n",
        "devices.csv": "token,badge\n5d3a6a1c8f9a42d6,3\n5d3a6a1c8f9a42d7,4\n",
        "no-heading.csv": "device,badge\n5d3a6a1c8f9a42d6,3\n",
        "misspelled.csv": "token,titel\n5d3a6a1c8f9a42d6,3\n",
        "twice.csv": "token,title,title\n5d3a6a1c8f9a42d6,a,b\n",
        "semicolons.csv": "token;badge\n5d3a6a1c8f9a42d6;3\n",
        "deep.json": #"{"aps":{"alert":"Tap"},"x":"# + String(repeating: "[", count: 70)
            + String(repeating: "]", count: 70) + "}",
        "devices-bad.csv": "token,badge\n5d3a6a1c8f9a42d6,three\n",
    ]
}
