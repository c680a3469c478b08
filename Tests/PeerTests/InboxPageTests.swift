import Foundation
import TestSupport
import Testing

/// The inbox's page in a real browser.
@Suite(.timeLimit(.minutes(5))) struct InboxPageTests {
    private static let python = ProcessInfo.processInfo.environment["MARTLET_PYTHON"] ?? ".build/python/bin/python3"
    private static let isReady =
        FileManager.default.isExecutableFile(atPath: python)
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")

    @Test(.enabled(if: isReady, "run `make test`, which installs Chromium and playwright"))
    func `Chromium takes the page for a walk`() async throws {
        let martlet = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/martlet"
        let run = try await ProgramRun(Self.python, ["Tests/Peers/inbox_page.py", martlet])
        #expect(run.status == 0, "\(run.complaint)")
        #expect(run.complaint.contains("Ran 8 tests"), "\(run.complaint)")
    }
}
