// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A child process, started with `posix_spawn` and awaited with `waitpid`.
///
/// Foundation's `Process` sometimes crashes on Linux when several processes start at once, and passes the signal mask
/// of the calling thread to the program. Standard input, output and error are files, so that no pipe can fill.
package struct ChildProcess: Sendable {
    private let processID: pid_t

    /// The resident memory in bytes; nil on systems without `/proc`, and with a sanitizer, which itself uses more
    /// memory than the program.
    package var memory: Int? {
        guard dlsym(nil, "__sanitizer_set_report_path") == nil else { return nil }
        let pages = (try? String(contentsOfFile: "/proc/\(processID)/statm", encoding: .utf8))?.split(separator: " ")
        guard let pages, pages.count > 1, let resident = Int(pages[1]) else { return nil }
        return resident * Int(sysconf(CInt(_SC_PAGESIZE)))
    }

    /// Starts a program; relative names are searched on `PATH` and in the `sbin` directories.
    package init(
        _ program: String,
        _ arguments: [String],
        input: String = "/dev/null",
        output: String = "/dev/null",
        errors: String = "/dev/null"
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
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let path = try ChildProcess.find(program)
        let argumentPointers = Self.pointers(to: [path] + arguments)
        let environmentPointers = Self.pointers(to: Self.environment)
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var processID: pid_t = 0
        let status = posix_spawn(&processID, path, &actions, &attributes, argumentPointers, environmentPointers)
        guard status == 0 else { throw MissingProgram(name: "\(program): \(String(cString: strerror(status)))") }
        self.processID = processID
    }

    /// The environment of programs, which has no proxies of the machine, no options of `martlet` and no other language.
    private static let environment: [String] = {
        let kept = ["MARTLET_PROGRAM", "MARTLET_PYTHON"]
        var variables = ProcessInfo.processInfo.environment.filter { name, _ in
            let isOption = name.hasPrefix("MARTLET_") && !kept.contains(name)
            let isLanguage = name.hasPrefix("LC_") || name.hasPrefix("LANG")
            return !isOption && !isLanguage && !name.lowercased().hasSuffix("_proxy")
        }
        variables["LANG"] = "C.UTF-8"
        // A program that exits while threads run does not free all memory, which the leak sanitizer would report.
        if variables["ASAN_OPTIONS"] == nil { variables["ASAN_OPTIONS"] = "detect_leaks=0" }
        return variables.map { "\($0.key)=\($0.value)" }
    }()

    private static func pointers(to texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Whether the process runs.
    package var isRunning: Bool {
        waitpid(processID, nil, WNOHANG) == 0
    }

    /// Waits for the process to exit, blocking the thread, and returns its exit code or the negative signal number.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) == -1, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Waits for the process to exit and returns its exit code or the negative signal number.
    ///
    /// Waits on a separate thread: blocking the few threads of the tests' pool would delay all other tests.
    package func ended() async -> Int32 {
        await onOwnThread { wait() }
    }

    /// Sends SIGINT, as Control-C does.
    package func interrupt() {
        Foundation.kill(processID, SIGINT)
    }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        Foundation.kill(processID, number)
    }

    /// Sends SIGKILL and waits for the process to exit.
    package func kill() {
        guard isRunning else { return }
        Foundation.kill(processID, SIGKILL)
        _ = wait()
    }

    private static func find(_ program: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = [""] + (path + ":/usr/sbin:/sbin:/usr/local/sbin").split(separator: ":").map { "\($0)/" }
        let isExecutable = { FileManager.default.isExecutableFile(atPath: $0 + program) }
        guard let directory = directories.first(where: isExecutable) else {
            throw MissingProgram(name: program)
        }
        return directory + program
    }
}

/// The error for a program that is missing or does not start; `make test` installs the programs of the tests.
package struct MissingProgram: Error {
    package let name: String
}
