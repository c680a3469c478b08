// SPDX-License-Identifier: Apache-2.0

import MartletSimulator
import TestSupport
import Testing

/// The findings about headers that commands print when they send.
@Suite(.timeLimit(.minutes(10))) struct HeaderNoteTests {
    @Test(arguments: [
        ["send", "--to", "00ff", "--body", "Hi"], ["send", "--tokens", "-", "--body", "Hi"],
        ["live", "update", "--to", "00ff", "--state", "{}"],
        ["broadcast", "--channel", "dHN0LXNyY2gtY2hubA==", "--state", "{}"],
    ])
    func `a command that sends warns of an expiration in the past`(words: [String]) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let server = ["--host", "http://localhost:\(port)", "--topic", "com.example.app", "--json"]
        for (expiration, isNoted) in [("45", true), ("+1h", false)] {
            let options = server + ["--expiration", expiration]
            let run = try await ProgramRun(MartletProcess.program, words + options, input: Array("00ff\n".utf8))
            let note = "warning: apns-expiration: the expiration passed "
            #expect(run.errorOutput.contains(note) == isNoted, "\(run.errorOutput)")
            #expect(!run.text.contains(note), "\(run.text)")
        }
        await apns.stop()
    }

    @Test func `a command that sends warns of a badge below 0`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let words = ["send", "--to", "00ff", "--host", "http://localhost:\(port)", "--topic", "com.example.app"]
        for (badge, isNoted) in [("-1", true), ("0", false)] {
            let payload = #"{"aps":{"alert":"Hi","badge":\#(badge)}}"#
            let run = try await ProgramRun(MartletProcess.program, words + ["--payload", payload])
            #expect(run.status == 0 && run.errorOutput.contains("badge must be 0 or more") == isNoted)
        }
        await apns.stop()
    }
}
