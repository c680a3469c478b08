// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

/// The format of a command's output.
struct OutputFormat: Sendable {
    /// Whether the output is JSON.
    let isJSON: Bool

    static let declared = Group(Flag("--json", "Print results and errors as JSON, one object per line")) {
        OutputFormat(isJSON: $0)
    }

    /// Writes a result in this format.
    ///
    /// - Parameters:
    ///   - json: The result as JSON.
    ///   - text: The result as text, with its line breaks.
    func write(json: @autoclosure () -> JSONValue, text: @autoclosure () -> String) {
        Terminal.output.write(isJSON ? json().line : text())
    }
}

extension JSONValue {
    /// The value as JSON text that ends with a line break.
    var line: String { String(decoding: encoded(), as: UTF8.self) + "\n" }
}
