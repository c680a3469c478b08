// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

/// An invalid line of a list.
struct BadLine: Sendable {
    /// The number of the line, counted from 1.
    let number: Int
    /// The error, without the number of the line.
    let message: String

    var json: JSONValue { ["line": .integer(number), "message": .string(message)] }
}

/// An error for a list of devices that has invalid lines.
struct BadLinesError: Error, CustomStringConvertible {
    let description: String
    /// The first invalid lines.
    let lines: [BadLine]

    /// The error as members of a JSON object.
    var members: [JSONValue.Member] {
        [
            .init("error", "usage"), .init("message", .string(description)), .init("lines", .array(lines.map(\.json))),
        ]
    }
}

extension BadLinesError {
    /// Creates an error for an invalid line of a list.
    init(_ line: BadLine, of file: InputFile) {
        self.init(description: "\(file.label), line \(line.number): \(line.message)", lines: [line])
    }
}
