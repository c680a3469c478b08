import Foundation
import TestSupport
import Testing

/// The pages in a real browser: each file `walk_*.py` of `Tests/Peers/inbox` and `relay` is a walk through some of one.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PageTests {
    private static let isReady =
        FileManager.default.isExecutableFile(atPath: Python.interpreter)
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
    private static let walks = ["inbox", "relay"].flatMap { page in
        let directory = "Tests/Peers/" + page
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasPrefix("walk_") && $0.hasSuffix(".py") }.sorted().map { directory + "/" + $0 }
    }

    @Test(.enabled(if: isReady, "run `make test`, which installs Chromium and playwright"), arguments: walks)
    func `Chromium takes the page for a walk`(walk: String) async throws {
        let martlet = MartletProcess.program
        let steps = try String(contentsOfFile: walk, encoding: .utf8).components(separatedBy: "    def test_").count - 1
        let run = try await ProgramRun("/usr/bin/env", ["MARTLET_PROGRAM=" + martlet, Python.interpreter, walk])
        #expect(run.status == 0, "\(run.complaint)")
        #expect(steps > 0 && run.complaint.contains("Ran \(steps) test"), "\(run.complaint)")
    }
}
