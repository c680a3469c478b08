import Foundation

/// The Python that `make test` sets up, with the packages of Tests/Peers/requirements.txt and the files beside it.
package enum Python {
    /// The interpreter's path.
    package static let interpreter =
        ProcessInfo.processInfo.environment["MARTLET_PYTHON"] ?? ".build/python/bin/python3"

    /// Returns the interpreter of the environment for one package, which has requirements of its own.
    package static func interpreter(for package: String) -> String {
        interpreter.replacing("/python/bin/", with: "/python-\(package)/bin/")
    }

    /// Runs the program of this project and returns the most memory that it had, in bytes.
    ///
    /// - Returns: The exit status, and the memory; nil under a sanitizer, which takes more than the program.
    package static func peakMemory(ofMartlet arguments: [String]) async throws -> (status: Int32, bytes: Int?) {
        let run = try await ProgramRun(
            interpreter,
            ["Tests/Peers/peak_memory.py", MartletProcess.program] + arguments
        )
        let isSanitized = dlsym(nil, "__sanitizer_set_report_path") != nil
        let lastLine = run.complaint.split(separator: "\n").last.map(String.init) ?? ""
        return (run.status, isSanitized ? nil : Int(lastLine))
    }
}
