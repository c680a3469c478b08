import Foundation

/// Another program, started and waited for by the plain calls of the system.
///
/// Foundation's `Process` crashes now and then on Linux when several are started at once, and hands its programs the
/// signal mask of whatever thread starts them. Standard input and outputs are files here, so no pipe can fill.
package struct ChildProcess: Sendable {
    private let processID: pid_t

    /// Bytes of memory it has at the moment; nil where the system does not tell, and under a sanitizer, which takes
    /// more than the program.
    package var memory: Int? {
        guard dlsym(nil, "__sanitizer_set_report_path") == nil else { return nil }
        let pages = (try? String(contentsOfFile: "/proc/\(processID)/statm", encoding: .utf8))?.split(separator: " ")
        guard let pages, pages.count > 1, let resident = Int(pages[1]) else { return nil }
        return resident * Int(sysconf(CInt(_SC_PAGESIZE)))
    }

    /// Starts a program; relative names are looked up on the path, and where servers are kept.
    package init(
        _ program: String,
        _ arguments: [String],
        input: String = "/dev/null",
        output: String = "/dev/null",
        complaints: String = "/dev/null"
    ) throws {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
            let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
            let flags = POSIX_SPAWN_SETSIGMASK
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, complaints, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let path = try ChildProcess.find(program)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        // A program that ends with threads running leaves to the system what a leak sanitizer would miss.
        setenv("ASAN_OPTIONS", "detect_leaks=0", 0)
        var processID: pid_t = 0
        let status = posix_spawn(&processID, path, &actions, &attributes, words, environ)
        guard status == 0 else { throw MissingProgram(name: "\(program): \(String(cString: strerror(status)))") }
        self.processID = processID
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool {
        waitpid(processID, nil, WNOHANG) == 0
    }

    /// Waits for its end, for which this call holds its thread, and returns its exit code or minus the signal's number.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) == -1, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Waits for its end and returns its exit code or minus the signal's number.
    ///
    /// The tests' threads are few: two that are held for seconds hold up all the others.
    package func ended() async -> Int32 {
        await onOwnThread { wait() }
    }

    /// Asks it to end, as Ctrl-C does.
    package func interrupt() {
        Foundation.kill(processID, SIGINT)
    }

    /// Sends it a signal.
    package func signal(_ number: Int32) {
        Foundation.kill(processID, number)
    }

    /// Ends it, whatever it does.
    package func kill() {
        guard isRunning else { return }
        Foundation.kill(processID, SIGKILL)
        _ = wait()
    }

    private static func find(_ program: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places = [""] + (path + ":/usr/sbin:/sbin:/usr/local/sbin").split(separator: ":").map { "\($0)/" }
        guard let place = places.first(where: { FileManager.default.isExecutableFile(atPath: $0 + program) }) else {
            throw MissingProgram(name: program)
        }
        return place + program
    }
}

/// A program that the tests need is not there; `make test` installs it.
package struct MissingProgram: Error {
    package let name: String
}
