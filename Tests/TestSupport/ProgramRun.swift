package import Foundation

/// A run of a program from outside, which judges this project's work.
package struct ProgramRun: Sendable {
    package let status: Int32
    package let output: [UInt8]
    package let complaint: String

    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program and waits for it without holding a thread of the tests' pool.
    package init(_ program: String, _ arguments: [String], input: [UInt8] = []) async throws {
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
        let complaints = try ScratchDirectory()
        let complaintFile = try complaints.write("", to: "standard-error")
        process.executableURL = try ProgramRun.find(program)
        process.arguments = arguments
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        // A file, as a second pipe could fill while the first is read.
        process.standardError = FileHandle(forWritingAtPath: complaintFile)
        try process.run()
        // What is sent fits in the pipe, or the program reads before it writes.
        try? standardInput.fileHandleForWriting.write(contentsOf: Data(input))
        try standardInput.fileHandleForWriting.close()
        output = Array(standardOutput.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        status = process.terminationStatus
        complaint = try String(contentsOfFile: complaintFile, encoding: .utf8)
    }

    package static func curl(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await ProgramRun("curl", ["--silent", "--show-error", "--max-time", "20"] + arguments, input: input)
    }

    /// Where a program is; servers are often not on the path of ordinary people.
    package static func find(_ program: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places = [""] + (path + ":/usr/sbin:/sbin:/usr/local/sbin").split(separator: ":").map { "\($0)/" }
        guard let place = places.first(where: { FileManager.default.isExecutableFile(atPath: $0 + program) }) else {
            throw MissingProgram(name: program)
        }
        return URL(filePath: place + program)
    }
}

/// A program that the tests need is not there; `make test` installs it.
package struct MissingProgram: Error {
    package let name: String
}
