import Foundation

/// A server program from outside, on a free port of this machine, stopped with this object.
package final class PeerServer: @unchecked Sendable {
    // `Process` is safe to be asked and terminated from any thread.
    private let process: Process
    private let scratch: ScratchDirectory
    package let port: UInt16

    private init(_ process: Process, port: UInt16, scratch: ScratchDirectory) {
        self.process = process
        self.port = port
        self.scratch = scratch
    }

    deinit {
        // A program started from a thread that blocks signals blocks them too; this one nobody can block.
        kill(process.processIdentifier, SIGKILL)
    }

    /// Starts a program and waits until it listens.
    ///
    /// The port is free when it is chosen; should another take it first, the next is tried.
    package static func start(
        _ program: String,
        in scratch: ScratchDirectory,
        arguments: (UInt16) throws -> [String]
    ) async throws -> PeerServer {
        for _ in 0..<5 {
            let port = try SilentServer.unusedPort().port
            let process = Process()
            process.executableURL = try ProgramRun.find(program)
            process.arguments = try arguments(port)
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let server = PeerServer(process, port: port, scratch: scratch)
            if await server.listens() { return server }
        }
        throw MissingProgram(name: "\(program), which does not start")
    }

    /// Whether the program accepts connections before it ends.
    private func listens() async -> Bool {
        while process.isRunning {
            if (try? RawClient(port: port)) != nil { return true }
            await Task.yield()
        }
        return false
    }
}
