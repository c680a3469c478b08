import APNs
import Commands

/// A line of a list that cannot be sent to.
struct BadLine: Sendable {
    /// The number of the line, counted from 1.
    let number: Int
    /// The rule that the line breaks, without the number.
    let message: String
}

/// A list of devices that has bad lines.
struct BadLinesError: Error, CustomStringConvertible {
    let description: String
    /// The first bad lines.
    let lines: [BadLine]

    /// The error for programs.
    var members: [JSONValue.Member] {
        let lines = lines.map { line -> JSONValue in
            ["line": .number(JSONNumber(line.number)), "message": .string(line.message)]
        }
        return [.init("error", "usage"), .init("message", .string(description)), .init("lines", .array(lines))]
    }
}

extension BadLinesError {
    /// An error for one line of a list.
    init(_ line: BadLine, of file: InputFile) {
        self.init(description: "\(file.label), line \(line.number): \(line.message)", lines: [line])
    }
}
