// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The Python environments that `make test` creates from Tests/Peers/requirements*.txt.
package enum Python {
    /// The interpreter's path.
    package static let interpreter =
        ProcessInfo.processInfo.environment["MARTLET_PYTHON"] ?? ".build/python/bin/python3"

    /// Returns the interpreter of the environment for a package with separate requirements.
    package static func interpreter(for package: String) -> String {
        interpreter.replacing("/python/bin/", with: "/python-\(package)/bin/")
    }

    /// Runs martlet and measures its peak memory.
    ///
    /// - Returns: The exit status, and the peak memory in bytes; nil with a sanitizer, which itself uses more memory.
    package static func peakMemory(ofMartlet arguments: [String]) async throws -> (status: Int32, bytes: Int?) {
        let run = try await ProgramRun(
            interpreter,
            ["Tests/Peers/peak_memory.py", MartletProcess.program] + arguments
        )
        let isSanitized = dlsym(nil, "__sanitizer_set_report_path") != nil
        let lastLine = run.errorOutput.split(separator: "\n").last.map(String.init) ?? ""
        return (run.status, isSanitized ? nil : Int(lastLine))
    }
}
