// SPDX-License-Identifier: Apache-2.0

/// A formatter that wraps text to a width.
struct TextLayout {
    /// The maximum width of a label whose explanation starts on the same line.
    private static let widestLabel = 30

    /// The number of columns of a line.
    let width: Int

    /// Wraps text; lines after the first are indented.
    func wrapped(_ text: String, indent: Int = 0) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: \.isWhitespace) {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return (lines + [line]).joined(separator: "\n" + String(repeating: " ", count: indent))
    }

    /// Formats rows of a label and its explanation; the explanation of a wider label starts on the next line.
    func columns(_ rows: [(label: String, text: String)]) -> String {
        let limit = min(TextLayout.widestLabel, width / 3)
        let column = rows.map(\.label.count).filter { $0 <= limit }.max() ?? limit
        let indent = column + 4
        return rows.map { label, text in
            let isWide = label.count > column
            let gap =
                isWide
                ? "\n" + String(repeating: " ", count: indent) : String(repeating: " ", count: column - label.count + 2)
            return "  " + label + gap + wrapped(text, indent: indent)
        }.joined(separator: "\n")
    }

    /// Wraps a command line with backslashes, so that a shell reads it as one line; an option stays with its value.
    func commandLine(_ text: String, indent: Int) -> String {
        var parts: [String] = []
        var quote: Character?
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if quote == nil, word.hasPrefix("--") || parts.isEmpty {
                parts.append(String(word))
            } else {
                parts[parts.count - 1] += " " + word
            }
            for character in word where character == "'" || character == "\"" {
                if quote == character { quote = nil } else if quote == nil { quote = character }
            }
        }
        var lines: [String] = []
        for part in parts {
            // Lines after the first are indented by four more columns, and the backslash that continues a line takes
            // two.
            let limit = width - indent - (lines.count > 1 ? 6 : 2)
            if let last = lines.last, last.count + 1 + part.count <= limit {
                lines[lines.count - 1] = last + " " + part
            } else {
                lines.append(part)
            }
        }
        let space = String(repeating: " ", count: indent)
        return space + lines.joined(separator: " \\\n" + space + "    ")
    }
}
