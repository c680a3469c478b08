// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A PostgreSQL server on a free local port, which stops with this object or this process.
package final class PostgreSQLServer: Sendable {
    /// The server that the tests of one process share, each with its own database.
    package static let shared = Task { try await PostgreSQLServer() }

    private let process: Mutex<ChildProcess>
    private let options: [String]
    /// Processes of the server that were stopped with SIGSTOP.
    private let frozen = Mutex<[pid_t]>([])
    private let scratch: ScratchDirectory
    package let port: UInt16
    /// The server's certificate for 127.0.0.1; nil without TLS.
    package let certificate: String?

    /// Starts the server and waits until it answers.
    ///
    /// - Parameters:
    ///   - options: Options of the server; by default it is fast and does not protect data against a loss of power.
    ///   - isEncrypted: Whether it offers TLS.
    /// - Throws: ``MissingProgram`` if it does not start.
    package init(
        options: [String] = ["-F", "-c", "synchronous_commit=off", "-c", "max_connections=400"],
        isEncrypted: Bool = false
    ) async throws {
        scratch = try ScratchDirectory()
        certificate = isEncrypted ? scratch.path + "/certificate.pem" : nil
        if isEncrypted { try await PostgreSQLServer.makeCertificate(in: scratch) }
        port = try SilentServer.unusedPort().port
        let own = String(ProcessInfo.processInfo.processIdentifier)
        let encryption = [
            "ssl=on", "ssl_cert_file=\(scratch.path)/certificate.pem", "ssl_key_file=\(scratch.path)/key.pem",
        ]
        self.options =
            [scratch.path, String(port), own] + options + (isEncrypted ? encryption.flatMap { ["-c", $0] } : [])
        process = Mutex(try Self.launch(self.options, scratch))
        guard try await isAnswering() else {
            throw MissingProgram(name: "postgresql: \((try? scratch.read("errors")) ?? "")")
        }
    }

    private static func launch(_ arguments: [String], _ scratch: ScratchDirectory) throws -> ChildProcess {
        let script = FileManager.default.currentDirectoryPath + "/Scripts/postgresql"
        return try ChildProcess(script, arguments, errors: scratch.path + "/errors")
    }

    /// Waits for the first answer; returns false if the server exits.
    private func isAnswering() async throws -> Bool {
        var isAnswering = false
        try await eventually("the server answers, or exits") {
            isAnswering = (try? await ask("SELECT 1", of: "postgres")) == "1\n"
            return isAnswering || !process.withLock(\.isRunning)
        }
        return isAnswering
    }

    /// Stops every process of the server with SIGSTOP: connections stay open without an answer.
    package func freeze() async throws {
        let main = try mainProcess()
        frozen.withLock { $0 = [main] }
        kill(main, SIGSTOP)
        for child in try await children(of: main) {
            frozen.withLock { $0.append(child) }
            kill(child, SIGSTOP)
        }
    }

    /// Continues the processes that ``freeze()`` stopped.
    package func thaw() {
        for process in frozen.withLock({ exchange(&$0, with: []) }) { kill(process, SIGCONT) }
    }

    /// Ends the server with SIGKILL, and waits until all its processes have exited.
    package func crash() async throws {
        let main = try mainProcess()
        let all = try await children(of: main) + [main]
        kill(main, SIGKILL)
        try await eventually("all processes of the server have exited") { !all.contains { kill($0, 0) == 0 } }
        _ = process.withLock { $0.wait() }
    }

    /// Starts the server again after ``crash()``, and waits until it answers.
    package func restart() async throws {
        for _ in 0..<20 {
            let next = try Self.launch(options, scratch)
            process.withLock { $0 = next }
            if try await isAnswering() { return }
        }
        throw MissingProgram(name: "postgresql: \((try? scratch.read("server.log")) ?? "")")
    }

    private func mainProcess() throws -> pid_t {
        let first = try scratch.read("data/postmaster.pid").split(separator: "\n").first
        guard let number = first.flatMap({ pid_t($0) }) else { throw MissingProgram(name: "postgresql") }
        return number
    }

    private func children(of process: pid_t) async throws -> [pid_t] {
        try await ProgramRun("pgrep", ["-P", String(process)]).text.split(separator: "\n").compactMap { pid_t($0) }
    }

    private static func makeCertificate(in scratch: ScratchDirectory) async throws {
        let files = ["-keyout", scratch.path + "/key.pem", "-out", scratch.path + "/certificate.pem"]
        let run = try await ProgramRun(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=127.0.0.1",
            ]
                + ["-addext", "subjectAltName=IP:127.0.0.1"] + files
        )
        guard run.status == 0 else { throw MissingProgram(name: "openssl: \(run.errorOutput)") }
        // If the tests run as root, the server runs as postgres, and requires that only its user can read the key.
        guard getuid() == 0 else { return }
        try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: scratch.path + "/key.pem")
    }

    deinit {
        thaw()
        process.withLock { process in
            process.signal(SIGTERM)
            _ = process.wait()
        }
    }

    /// The connection URI of a database.
    package func address(of database: String) -> String {
        "postgresql://postgres@127.0.0.1:\(port)/\(database)"
    }

    /// Creates an empty database and returns its name.
    package func makeDatabase() async throws -> String {
        let name = "d" + UUID().uuidString.lowercased().filter { $0 != "-" }
        _ = try await ask("CREATE DATABASE \(name)", of: "postgres")
        return name
    }

    /// Runs a statement with psql and returns its output.
    @discardableResult
    package func ask(_ sql: String, of database: String) async throws -> String {
        let run = try await ProgramRun("psql", ["-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql, address(of: database)])
        guard run.status == 0 else { throw MissingProgram(name: "psql: \(run.errorOutput)") }
        return run.text
    }

    /// Waits until one client of a database sleeps in `pg_sleep`.
    ///
    /// - Parameters:
    ///   - expected: What the client has done then, in words, for the error.
    ///   - database: The name of the database.
    /// - Throws: ``NeverHappened``, and the error of `psql`.
    package func waitForSleep(_ expected: String, of database: String) async throws {
        let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND wait_event = 'PgSleep'"
        try await eventually(expected) { try await ask(sleeping, of: database) == "1\n" }
    }
}
