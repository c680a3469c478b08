import Foundation

/// A run of a program from outside, which judges this project's work.
package struct ProgramRun: Sendable {
    /// The exit code, or minus the number of the signal that ended it.
    package let status: Int32
    package let output: [UInt8]
    package let complaint: String

    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program and waits for it without holding a thread of the tests' pool.
    package init(_ program: String, _ arguments: [String], input: [UInt8] = []) async throws {
        let scratch = try ScratchDirectory()
        let input = try scratch.write(input, to: "input")
        let child = try ChildProcess(
            program,
            arguments,
            input: input,
            output: scratch.path + "/output",
            complaints: scratch.path + "/complaints"
        )
        status = await child.ended()
        output = try Array(Data(contentsOf: URL(filePath: scratch.path + "/output")))
        complaint = try scratch.read("complaints")
    }

    package static func curl(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await ProgramRun("curl", ["--silent", "--show-error", "--max-time", "20"] + arguments, input: input)
    }
}
