import Foundation

/// A run of curl or of another program from outside, which judges this project's work.
struct ProgramRun: Sendable {
    let status: Int32
    let output: [UInt8]
    let complaint: String

    var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program and waits for it without holding a thread of the tests' pool.
    init(_ program: String, _ arguments: [String], input: [UInt8] = []) async throws {
        self = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ProgramRun(blocking: program, arguments, input) })
            }
        }
    }

    private init(blocking program: String, _ arguments: [String], _ input: [UInt8]) throws {
        let process = Process()
        let standardInput = Pipe()
        let standardOutput = Pipe()
        let standardError = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = standardError
        try process.run()
        // What is sent fits in the pipe, or the program reads before it writes.
        try? standardInput.fileHandleForWriting.write(contentsOf: Data(input))
        try standardInput.fileHandleForWriting.close()
        output = Array(standardOutput.fileHandleForReading.readDataToEndOfFile())
        complaint = String(decoding: standardError.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }

    static func curl(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await ProgramRun(
            "/usr/bin/curl",
            ["--silent", "--show-error", "--max-time", "20"] + arguments,
            input: input
        )
    }
}
