// SPDX-License-Identifier: Apache-2.0

/// A third-party server on a free local port, which `deinit` stops.
package final class PeerServer: Sendable {
    private let process: ChildProcess
    /// The directory that the server reads from.
    private let scratch: ScratchDirectory
    package let port: UInt16

    private init(_ process: ChildProcess, port: UInt16, scratch: ScratchDirectory) {
        self.process = process
        self.port = port
        self.scratch = scratch
    }

    deinit {
        process.kill()
    }

    /// Starts a program and waits until it listens.
    ///
    /// Tries another port if another process takes the chosen port first.
    package static func start(
        _ program: String,
        in scratch: ScratchDirectory,
        arguments: (UInt16) throws -> [String]
    ) async throws -> PeerServer {
        for _ in 0..<5 {
            let port = try SilentServer.unusedPort().port
            let process = try ChildProcess(program, arguments(port))
            let server = PeerServer(process, port: port, scratch: scratch)
            if try await server.listens() { return server }
        }
        throw MissingProgram(name: "\(program), which does not start")
    }

    /// Whether the program accepts connections before it ends.
    private func listens() async throws -> Bool {
        var isConnected = false
        try await eventually("the program accepts connections, or ends") {
            isConnected = (try? RawClient(port: port)) != nil
            return isConnected || !process.isRunning
        }
        return isConnected
    }
}
