// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import Testing

@testable import MartletRelay

@Suite struct BatchLinesTests {
    private func lines(_ text: String) async throws -> [String] {
        var reader = BatchLines(Array(text.utf8), nil)
        var lines: [String] = []
        while let line = try await reader.next(after: lines.count) {
            lines.append(String(decoding: line, as: UTF8.self))
        }
        return lines
    }

    @Test(arguments: [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n\nb\n\n", ["a", "b"]),
        ("\r\na\r\n\r\nb\r\n\r\n", ["a", "b"]), ("a\r", ["a"]), ("\r", []), ("a\rb\n", ["a\rb"]),
    ])
    func `lines end with a line feed or with the body`(text: String, expected: [String]) async throws {
        #expect(try await lines(text) == expected)
    }

    @Test(arguments: ["", "\n", "\r\n", "\nb"])
    func `a line of more than 2 MiB is refused`(end: String) async throws {
        let longest = String(repeating: "a", count: 2 << 20)
        #expect(try await lines(longest + end).first == longest)
        await #expect(throws: BatchLines.Failure.lineTooLong) { _ = try await lines("a" + longest + end) }
    }

    @Test func `the lines before a line that is too long are handled first`() async throws {
        var reader = BatchLines(Array("a\n\(String(repeating: "b", count: (2 << 20) + 1))\n".utf8), nil)
        #expect(try await reader.next(after: 0) == [UInt8(ascii: "a")])
        #expect(try await reader.next(after: 1) == nil)
        await #expect(throws: BatchLines.Failure.lineTooLong) { _ = try await reader.next(after: 0) }
    }
}
