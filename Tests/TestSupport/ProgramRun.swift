// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A completed run of a program.
package struct ProgramRun: Sendable {
    /// The exit code, or the negative number of the signal that ended the program.
    package let status: Int32
    /// The standard output.
    package let output: [UInt8]
    /// The standard error output.
    package let errorOutput: String

    /// The standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program and waits for it without blocking a thread of the tests' pool.
    package init(_ program: String, _ arguments: [String], input: [UInt8] = []) async throws {
        let scratch = try ScratchDirectory()
        let input = try scratch.write(input, to: "input")
        let child = try ChildProcess(
            program,
            arguments,
            input: input,
            output: scratch.path + "/output",
            errors: scratch.path + "/errors"
        )
        status = await child.ended()
        output = try Array(Data(contentsOf: URL(filePath: scratch.path + "/output")))
        errorOutput = try scratch.read("errors")
    }

    package static func curl(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await ProgramRun("curl", ["--silent", "--show-error", "--max-time", "20"] + arguments, input: input)
    }
}
