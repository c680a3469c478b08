// SPDX-License-Identifier: Apache-2.0

import MartletZlib
import TestSupport
import Testing

@Suite struct GzipStreamTests {
    private struct NoMemory: Error {}

    /// Compresses bytes in parts of this size.
    private func compressed(_ bytes: [UInt8], level: Int = 1, partSize: Int) throws -> [UInt8] {
        guard var stream = GzipStream(level: level) else { throw NoMemory() }
        var output: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let part = rest.prefix(partSize)
            rest = rest.dropFirst(partSize)
            stream.compress(part, isLast: rest.isEmpty, into: &output)
        } while !rest.isEmpty
        return output
    }

    private func decompressed(_ bytes: [UInt8]) async throws -> [UInt8] {
        let run = try await ProgramRun("gzip", ["--decompress", "--stdout"], input: bytes)
        #expect(run.status == 0, "\(run.errorOutput)")
        return run.output
    }

    /// Bytes that repeat, and bytes without any pattern, which take more space than their input.
    private static let inputs: [[UInt8]] = {
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<300_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return [[], [65], Array(repeating: 65, count: 1_000_000), noise, Array("push ".utf8) + noise]
    }()

    @Test(arguments: [1, 1_000, 131_072, 2_000_000])
    func `a program for gzip reads the output, however the input is divided`(partSize: Int) async throws {
        for input in Self.inputs where input.count / partSize < 10_000 {
            let output = try compressed(input, partSize: partSize)
            #expect(output.count < input.count + input.count / 1_000 + 100)
            #expect(try await decompressed(output) == input)
        }
    }

    @Test func `a level that zlib does not have is replaced by the nearest`() async throws {
        let text = Array(String(repeating: "order ready ", count: 1_000).utf8)
        for level in [-5, 1, 9, 99] {
            let output = try compressed(text, level: level, partSize: text.count)
            #expect(output.count < 200)
            #expect(try await decompressed(output) == text)
        }
    }

    @Test func `the version of zlib is known`() {
        #expect(ZlibLibrary.version.hasPrefix("1."))
    }
}
