// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

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
            "device": "--to \(World.device) --topic com.example.app",
            "inbox": "http://127.0.0.1:\(simulator.inboxPort)",
            "port": "\(simulator.port)",
            "inboxport": "\(simulator.inboxPort)",
            "directory": scratch.path,
            "HOME": scratch.path,
        ]
        if let relay {
            settings["relay"] = "--url http://127.0.0.1:\(relay.httpPort)"
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
