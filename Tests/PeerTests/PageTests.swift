// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Tests of the web pages in Chromium: the unittest programs `walk_*.py` of `Tests/Peers/inbox` and `relay`.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PageTests {
    private static let isReady =
        FileManager.default.isExecutableFile(atPath: Python.interpreter)
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
    private static let walks = ["inbox", "relay"].flatMap { page in
        let directory = "Tests/Peers/" + page
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasPrefix("walk_") && $0.hasSuffix(".py") }.sorted().map { directory + "/" + $0 }
    }

    @Test(.enabled(if: isReady, "requires Chromium and playwright, which `make test` installs"), arguments: walks)
    func `the page works in Chromium`(walk: String) async throws {
        let martlet = MartletProcess.program
        let steps = try String(contentsOfFile: walk, encoding: .utf8).components(separatedBy: "    def test_").count - 1
        let run = try await ProgramRun("/usr/bin/env", ["MARTLET_PROGRAM=" + martlet, Python.interpreter, walk])
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(steps > 0 && run.errorOutput.contains("Ran \(steps) test"), "\(run.errorOutput)")
    }
}
