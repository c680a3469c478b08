import Foundation

/// The program that was built with these tests, as a server that runs until it is ended.
package final class MartletProcess: Sendable {
    /// The program's path: that of the variable `MARTLET_PROGRAM`, or of the program beside the tests.
    package static let program =
        ProcessInfo.processInfo.environment["MARTLET_PROGRAM"].map { URL(filePath: $0).path }
        ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/martlet"

    /// What it said until it was ready, or until it ended.
    package let words: String
    private let process: ChildProcess
    /// Where its output comes from.
    private let scratch: ScratchDirectory

    /// Starts it and waits until it says how it is ended.
    package init(_ arguments: [String]) async throws {
        let scratch = try ScratchDirectory()
        self.scratch = scratch
        let pipe = scratch.path + "/output"
        mkfifo(pipe, 0o600)
        // With a reader at the other end, the program need not wait for one when it opens its output.
        let output = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard output >= 0 else { throw POSIXError(.EIO) }
        process = try ChildProcess(
            Self.program,
            arguments,
            output: pipe,
            complaints: scratch.path + "/complaints"
        )
        _ = fcntl(output, F_SETFL, 0)
        words = await withCheckedContinuation { continuation in
            Thread.detachNewThread { MartletProcess.read(output) { continuation.resume(returning: $0) } }
        }
    }

    deinit {
        process.kill()
    }

    /// Ends it, whatever it does.
    package func kill() {
        process.kill()
    }

    /// Asks it to end and waits until it has; returns its exit code, or minus the number of a signal.
    package func end() async -> Int32 {
        process.interrupt()
        return await process.ended()
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { process.isRunning }
    /// Bytes of memory it has at the moment; nil where that cannot be told.
    package var memory: Int? { process.memory }
    /// What it has complained of.
    package var complaints: String { (try? scratch.read("complaints")) ?? "" }

    /// Hands on what it says until it is ready, and reads the rest away, so that it need not wait.
    private static func read(_ output: CInt, _ whenReady: (String) -> Void) {
        var text: String? = ""
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Foundation.read(output, &piece, piece.count)
            guard count > 0 else { break }
            text? += String(decoding: piece[..<count], as: UTF8.self)
            if let ready = text, ready.contains("ends it") {
                whenReady(ready)
                text = nil
            }
        }
        if let text { whenReady(text) }
        close(output)
    }
}
