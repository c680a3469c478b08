import Foundation

/// A PostgreSQL of Debian's packages on a free port of this machine, stopped with this object, or with the process.
package final class PostgreSQLServer: Sendable {
    /// The one that tests of one process share, each with a database of its own.
    package static let shared = Task { try await PostgreSQLServer() }

    private let process: ChildProcess
    private let scratch: ScratchDirectory
    package let port: UInt16

    /// Starts it and waits until it answers.
    ///
    /// - Parameter options: Options of the server; by default it is as fast as one can be that need not survive a loss
    ///   of power.
    /// - Throws: ``MissingProgram`` when it does not start.
    package init(options: [String] = ["-F", "-c", "synchronous_commit=off"]) async throws {
        scratch = try ScratchDirectory()
        port = try SilentServer.unusedPort().port
        let own = String(ProcessInfo.processInfo.processIdentifier)
        let script = FileManager.default.currentDirectoryPath + "/Scripts/postgresql"
        process = try ChildProcess(
            script,
            [scratch.path, String(port), own] + options,
            complaints: scratch.path + "/complaints"
        )
        while process.isRunning {
            if (try? await ask("SELECT 1", of: "postgres")) == "1\n" { return }
        }
        throw MissingProgram(name: "postgresql, which says: \((try? scratch.read("complaints")) ?? "")")
    }

    deinit {
        process.signal(SIGTERM)
        _ = process.wait()
    }

    /// Where libpq finds a database.
    package func address(of database: String) -> String {
        "postgresql://postgres@127.0.0.1:\(port)/\(database)"
    }

    /// Makes an empty database; its name.
    package func makeDatabase() async throws -> String {
        let name = "d" + UUID().uuidString.lowercased().filter { $0 != "-" }
        _ = try await ask("CREATE DATABASE \(name)", of: "postgres")
        return name
    }

    /// What psql answers.
    @discardableResult
    package func ask(_ sql: String, of database: String) async throws -> String {
        let run = try await ProgramRun("psql", ["-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql, address(of: database)])
        guard run.status == 0 else { throw MissingProgram(name: "psql, which says: \(run.complaint)") }
        return run.text
    }
}
