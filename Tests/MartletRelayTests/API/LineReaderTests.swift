import MartletTransport
import Testing

@testable import MartletRelay

@Suite struct LineReaderTests {
    private func lines(_ text: String) async throws -> [String] {
        var reader = LineReader(Array(text.utf8), nil)
        var lines: [String] = []
        while let line = try await reader.next(after: lines.count) {
            lines.append(String(decoding: line, as: UTF8.self))
        }
        return lines
    }

    @Test(arguments: [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n\nb\n\n", ["a", "b"]),
    ])
    func `lines end with a line feed or with the body`(text: String, expected: [String]) async throws {
        #expect(try await lines(text) == expected)
    }

    @Test func `a line without end is refused`() async {
        await #expect(throws: LineReader.Failure.lineTooLong) {
            _ = try await lines(String(repeating: "a", count: (2 << 20) + 1))
        }
    }
}
