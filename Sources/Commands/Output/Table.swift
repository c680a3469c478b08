/// Rows under headings, for people.
package struct Table: Sendable {
    /// One cell.
    package struct Cell: Sendable, ExpressibleByStringLiteral {
        fileprivate let text: String
        fileprivate let style: TextStyle

        /// A cell from its text.
        package init(_ text: String, _ style: TextStyle = .plain) {
            self.text = text
            self.style = style
        }

        /// A plain cell.
        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    /// One column.
    package struct Column: Sendable, ExpressibleByStringLiteral {
        fileprivate let heading: String
        fileprivate let isNumeric: Bool

        /// A column under this heading; numbers stand to the right.
        package init(_ heading: String, isNumeric: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
        }

        /// A column of text.
        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    /// An empty table.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; cells without a column are left out.
    package mutating func add(_ cells: [Cell]) {
        rows.append(Array(cells.prefix(columns.count)))
    }

    /// The table as text that ends with a line break.
    ///
    /// - Parameter terminal: Where it will be written, which decides on colours.
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
