// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A server process of the program that was built with these tests.
package final class MartletProcess: Sendable {
    /// The path of the program: the value of the variable `MARTLET_PROGRAM`, or the program beside the tests.
    package static let program =
        ProcessInfo.processInfo.environment["MARTLET_PROGRAM"].map { URL(filePath: $0).path }
        ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/martlet"

    /// The standard output until the server was ready or exited.
    package let readyOutput: String
    private let process: ChildProcess
    /// The directory of its output files.
    private let scratch: ScratchDirectory

    /// Starts the server and waits until it is ready.
    package init(_ arguments: [String]) async throws {
        let scratch = try ScratchDirectory()
        self.scratch = scratch
        let pipe = scratch.path + "/output"
        mkfifo(pipe, 0o600)
        // Open the reading end first, so that the program's open of the pipe does not block.
        let output = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard output >= 0 else { throw POSIXError(.EIO) }
        process = try ChildProcess(
            Self.program,
            arguments,
            output: pipe,
            errors: scratch.path + "/errors"
        )
        _ = fcntl(output, F_SETFL, 0)
        readyOutput = await withCheckedContinuation { continuation in
            Thread.detachNewThread { MartletProcess.read(output) { continuation.resume(returning: $0) } }
        }
    }

    deinit {
        process.kill()
    }

    /// Sends SIGKILL and waits for the process to exit.
    package func kill() {
        process.kill()
    }

    /// Sends SIGINT, waits for the process to exit, and returns its exit code or the negative signal number.
    package func end() async -> Int32 {
        process.interrupt()
        return await process.ended()
    }

    /// Whether the process runs.
    package var isRunning: Bool { process.isRunning }
    /// The resident memory in bytes; nil if it cannot be measured.
    package var memory: Int? { process.memory }
    /// The processor time that the process has used; nil if it cannot be measured.
    package var processorTime: Duration? { process.processorTime }
    /// The standard error output.
    package var errorOutput: String { (try? scratch.read("errors")) ?? "" }

    /// Passes the output to `whenReady` when the server is ready, and discards later output to keep the pipe empty.
    private static func read(_ output: CInt, _ whenReady: (String) -> Void) {
        var text: String? = ""
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Foundation.read(output, &piece, piece.count)
            guard count > 0 else { break }
            text? += String(decoding: piece[..<count], as: UTF8.self)
            if let ready = text, ready.contains("Press Control-C") {
                whenReady(ready)
                text = nil
            }
        }
        if let text { whenReady(text) }
        close(output)
    }
}
