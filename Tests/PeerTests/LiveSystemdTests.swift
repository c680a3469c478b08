// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Tests of the relay's unit with a second systemd, which `Tests/Peers/relay/live-systemd` starts in namespaces.
@Suite(.timeLimit(.minutes(10))) struct LiveSystemdTests {
    private static let groups = ["/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"]
    /// Whether this process can start a second systemd.
    private static let mayStart =
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd")
        && groups.contains(where: FileManager.default.isWritableFile)

    @Test(.enabled(if: mayStart, "requires root, systemd and writable cgroups"))
    func `the unit starts, reloads, restarts after a crash without loss, and stops`() async throws {
        // Port 9 has no listener: the relay stores the pushes.
        let relay = try await RelayProcess(
            to: ["host": "127.0.0.1", "port": 9, "clear": true],
            dataDirectory: "/var/lib/martlet",
            ["http": "127.0.0.1:8198"]
        )
        let key = try relay.scratch.write(relay.keyPEM, to: "AuthKey.p8")
        let text = try String(contentsOfFile: relay.configuration, encoding: .utf8)
        let configuration = try relay.scratch.write(text.replacing("key.p8", with: "AuthKey.p8"), to: "live.json")
        let run = try await ProgramRun(
            "Tests/Peers/relay/live-systemd",
            [MartletProcess.program, "Packaging/martlet-relay.service", configuration, key]
        )
        #expect(
            run.text == """
                started: active
                status: accepts pushes for 1 app; 0 in flight, 0 sent
                data: 700
                reloaded: active
                reload of an invalid configuration failed: active
                started again: 1
                "backlog":1
                stopped: success

                """,
            "\(run.errorOutput)"
        )
    }
}
