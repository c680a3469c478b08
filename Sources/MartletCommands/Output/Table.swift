// SPDX-License-Identifier: Apache-2.0

/// A table of rows under headings.
package struct Table: Sendable {
    /// A cell of a table.
    package struct Cell: Sendable, ExpressibleByStringLiteral {
        fileprivate let text: String
        fileprivate let style: TextStyle

        /// Creates a cell.
        package init(_ text: String, _ style: TextStyle = .plain) {
            self.text = text
            self.style = style
        }

        /// Creates a cell without style.
        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    /// A column of a table.
    package struct Column: Sendable, ExpressibleByStringLiteral {
        fileprivate let heading: String
        fileprivate let isNumeric: Bool

        /// Creates a column with a heading; numbers are aligned to the right.
        package init(_ heading: String, isNumeric: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
        }

        /// Creates a column of text.
        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    /// Creates an empty table.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; cells beyond the last column are left out.
    package mutating func add(_ cells: [Cell]) {
        rows.append(Array(cells.prefix(columns.count)))
    }

    /// Returns the table as text that ends with a line break.
    ///
    /// - Parameter terminal: The terminal that the text is written to, which determines whether colors are used.
    /// - Returns: The lines.
    package func text(for terminal: Terminal) -> String {
        let widths = columns.indices.map { index in
            (rows.compactMap { $0.count > index ? $0[index].text.count : nil } + [columns[index].heading.count]).max()
                ?? 0
        }
        let heading = columns.map { Cell($0.heading, .bold) }
        return ([heading] + rows).map { line($0, widths, terminal) + "\n" }.joined()
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ terminal: Terminal) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - cell.text.count)
            let text = terminal.styled(cell.text, cell.style)
            let isLast = index == cells.count - 1
            line += columns[index].isNumeric ? padding + text : text + (isLast ? "" : padding)
            if !isLast { line += "  " }
        }
        return line
    }
}
