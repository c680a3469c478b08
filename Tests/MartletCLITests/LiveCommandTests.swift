// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of commands that update Live Activities, one after the other.
@Suite(.timeLimit(.minutes(10))) struct LiveCommandTests {
    /// A phone ignores an update or end whose timestamp is not later than that of the one before.
    @Test func `commands that run one after the other send later and later timestamps`() async throws {
        let apns = try await SimulatedAPNs.start()
        let scratch = try ScratchDirectory()
        let authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
        let port = await apns.port
        let options = [
            "--host", "localhost:\(port)", "--ca", authority, "--topic", "com.example.app", "--to", "a1b2c3d4e5f60718",
        ]
        let snapshot = try await ProgramRun(MartletProcess.program, ["surface", "example", "liveActivity"])
        let file = try scratch.write(snapshot.text, to: "activity.json")
        for command in [
            ["live", "update", "--state", "{}"], ["live", "update", "--state", "{}"],
            ["send", "--snapshot", file, "--as", "update"], ["live", "end"],
        ] {
            let run = try await ProgramRun(MartletProcess.program, command + options)
            #expect(run.status == 0, "\(run.errorOutput)")
        }
        struct Push: Decodable {
            struct Content: Decodable { let timestamp: Int }
            let aps: Content
        }
        let timestamps = try await apns.pushes.map { try $0.decode(Push.self).aps.timestamp }
        #expect(timestamps.count == 4 && zip(timestamps, timestamps.dropFirst()).allSatisfy(<), "\(timestamps)")
        await apns.stop()
    }
}
