import Foundation
import Synchronization

/// A PostgreSQL of Debian's packages on a free port of this machine, stopped with this object, or with the process.
package final class PostgreSQLServer: Sendable {
    /// The one that tests of one process share, each with a database of its own.
    package static let shared = Task { try await PostgreSQLServer() }

    private let process: Mutex<ChildProcess>
    private let options: [String]
    /// Processes of the server that were stopped with SIGSTOP.
    private let frozen = Mutex<[pid_t]>([])
    private let scratch: ScratchDirectory
    package let port: UInt16
    /// The certificate that it shows for 127.0.0.1; nil when it speaks in the clear.
    package let certificate: String?

    /// Starts it and waits until it answers.
    ///
    /// - Parameters:
    ///   - options: Options of the server; by default it is as fast as one can be that need not survive a loss of
    ///     power.
    ///   - isEncrypted: Whether it speaks TLS to whoever wants to.
    /// - Throws: ``MissingProgram`` when it does not start.
    package init(
        options: [String] = ["-F", "-c", "synchronous_commit=off"],
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
        guard await isAnswering() else {
            throw MissingProgram(name: "postgresql, which says: \((try? scratch.read("complaints")) ?? "")")
        }
    }

    private static func launch(_ arguments: [String], _ scratch: ScratchDirectory) throws -> ChildProcess {
        let script = FileManager.default.currentDirectoryPath + "/Scripts/postgresql"
        return try ChildProcess(script, arguments, complaints: scratch.path + "/complaints")
    }

    /// Waits for the first answer; false when the server has ended.
    private func isAnswering() async -> Bool {
        while process.withLock(\.isRunning) {
            if (try? await ask("SELECT 1", of: "postgres")) == "1\n" { return true }
        }
        return false
    }

    /// Stops every process of the server with SIGSTOP: it keeps its connections, and answers nothing.
    package func freeze() async throws {
        let main = try mainProcess()
        frozen.withLock { $0 = [main] }
        kill(main, SIGSTOP)
        for child in try await children(of: main) {
            frozen.withLock { $0.append(child) }
            kill(child, SIGSTOP)
        }
    }

    /// Continues what ``freeze()`` has stopped.
    package func thaw() {
        for process in frozen.withLock({ exchange(&$0, with: []) }) { kill(process, SIGCONT) }
    }

    /// Ends the server with SIGKILL, and waits until all its processes are gone.
    package func crash() async throws {
        let main = try mainProcess()
        let all = try await children(of: main) + [main]
        kill(main, SIGKILL)
        while all.contains(where: { kill($0, 0) == 0 }) { await Task.yield() }
        _ = process.withLock { $0.wait() }
    }

    /// Starts the server again after ``crash()``, and waits until it answers.
    package func restart() async throws {
        for _ in 0..<20 {
            let next = try Self.launch(options, scratch)
            process.withLock { $0 = next }
            if await isAnswering() { return }
        }
        throw MissingProgram(name: "postgresql, which says: \((try? scratch.read("server.log")) ?? "")")
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
        guard run.status == 0 else { throw MissingProgram(name: "openssl, which says: \(run.complaint)") }
        // As root, the server becomes somebody else, who has to be able to read it and nobody besides.
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
