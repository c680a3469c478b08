// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

/// A line of a list of devices: a token, and the options that differ for it.
struct DeviceRow: Equatable {
    let token: DeviceToken
    /// The options that differ, named without their dashes, with the values for this device.
    let overrides: [Override]

    struct Override: Equatable {
        let name: String
        let value: String
    }

    /// The beginning of the name of a value in errors: "column " or "field "; empty for a list of tokens.
    let place: String

    /// A column of a CSV list.
    struct Column: Equatable {
        enum Role {
            case token
            case option
            /// A column of a database that has nothing to do with pushes.
            case ignored
        }

        let name: String
        let role: Role

        /// Classifies a column by its name, normalized as those of options.
        ///
        /// - Throws: ``UsageError`` for a name close to that of an option.
        init(_ name: String, among options: Set<String>) throws(UsageError) {
            self.name = name
            if DeviceRow.isTokenName(name) {
                role = .token
            } else if options.contains(name) {
                role = .option
            } else {
                role = .ignored
                guard NearestName.of(name, among: options) != nil else { return }
                throw UsageError(
                    "the heading has the column \"\(name)\", which is not known"
                        + NearestName.hint(for: name, among: options)
                )
            }
        }
    }

    /// The format of the lines in a list.
    enum Format: Equatable {
        /// A token on each line.
        case plain
        /// CSV with these columns.
        case columns([Column])
        /// A JSON object on each line.
        case json

        /// Determines the format from the first line, and whether that line is only a heading.
        ///
        /// Names of columns are compared ignoring case, and may have underscores or spaces in place of hyphens, as in
        /// databases and spreadsheets.
        ///
        /// - Parameters:
        ///   - line: The line.
        ///   - options: The names of the columns besides the token.
        /// - Returns: The format, and whether the line is only a heading.
        /// - Throws: ``UsageError`` for a line of several columns, none of which has the name of a token column.
        static func of(
            firstLine line: ArraySlice<UInt8>,
            among options: Set<String> = NotificationOptions.overridableNames
        ) throws(UsageError) -> (format: Format, isHeading: Bool) {
            if line.first == UInt8(ascii: "{") { return (.json, false) }
            let cells = try CSVScanner.fields(of: line).map(\.trimmingSpaces)
            let names = cells.map { DeviceRow.normalized($0, among: options) }
            if names.contains(where: DeviceRow.isTokenName) {
                return (.columns(try classified(names, among: options)), true)
            }
            guard cells.count == 1 else {
                guard DeviceRow.isText(line) else { throw UsageError("is not valid UTF-8") }
                throw UsageError(
                    "the heading of a CSV list must name a column token or device-token (found "
                        + found(cells) + ")"
                )
            }
            if let separator = [";", "\t"].first(where: { cells[0].contains($0) }) {
                let name = separator == ";" ? "semicolons" : "tabs"
                throw UsageError("the columns of a CSV list must be separated by commas (found \(name))")
            }
            return (.plain, false)
        }

        private static func classified(
            _ names: [String],
            among options: Set<String>
        ) throws(UsageError) -> [Column] {
            let tokens = names.filter(DeviceRow.isTokenName)
            guard Set(tokens).count < 2 else {
                throw UsageError("both \(tokens[0]) and \(tokens[1]) may be the token: rename one of the columns")
            }
            var columns: [Column] = []
            var seen: Set<String> = []
            for name in names {
                let column = try Column(name, among: options)
                guard column.role == .ignored || seen.insert(name).inserted else {
                    throw UsageError("the heading has the column \"\(name)\" twice")
                }
                columns.append(column)
            }
            return columns
        }

        /// The names of columns that are ignored.
        var ignoredColumns: [String] {
            guard case .columns(let columns) = self else { return [] }
            return columns.filter { $0.role == .ignored && !$0.name.isEmpty }.map(\.name)
        }

        /// Whether lines of this format may specify the content of a push.
        var canHaveContent: Bool {
            switch self {
            case .plain: false
            case .columns(let columns): columns.contains { NotificationOptions.contentNames.contains($0.name) }
            case .json: true
            }
        }

        /// Returns the first cells of a line for an error.
        ///
        /// A list without a heading may have tokens there, also damaged ones: cells with eight digits are not shown.
        private static func found(_ cells: [String]) -> String {
            let names = cells.prefix(8).map { cell -> String in
                let isShown = cell.count <= 24 && cell.count(where: \.isHexDigit) < 8 && ShownValue(cell).isWhole
                return isShown ? cell : "a value of \(cell.count.counted("character"))"
            }
            return names.joined(separator: ", ") + (cells.count > names.count ? ", …" : "")
        }
    }

    /// Parses a line.
    ///
    /// - Throws: ``UsageError`` that describes the error.
    init(_ line: ArraySlice<UInt8>, _ format: Format) throws(UsageError) {
        guard DeviceRow.isText(line) else { throw UsageError("is not valid UTF-8") }
        switch format {
        case .plain:
            try self.init(token: ("token", String(decoding: line, as: UTF8.self)), [], place: "")
        case .columns(let columns):
            let cells = try CSVScanner.fields(of: line)
            guard cells.count == columns.count else {
                throw UsageError("has \(cells.count.counted("column")), but the heading has \(columns.count)")
            }
            var token: Field?
            var overrides: [Override] = []
            for (column, cell) in zip(columns, cells) {
                switch column.role {
                case .token: token = (column.name, cell)
                case .option where !cell.isEmpty: overrides.append(Override(name: column.name, value: cell))
                case .option, .ignored: break
                }
            }
            try self.init(token: token, overrides, place: "column ")
        case .json:
            var token: Field?
            var overrides: [Override] = []
            var seen: Set<String> = []
            for field in try DeviceRow.members(of: line) {
                guard seen.insert(field.name).inserted else {
                    throw UsageError("has the field \"\(field.name)\" twice")
                }
                guard DeviceRow.isTokenName(field.name) else {
                    overrides.append(Override(name: field.name, value: field.value))
                    continue
                }
                if let token {
                    throw UsageError("both \(token.name) and \(field.name) may be the token: remove one of the fields")
                }
                token = field
            }
            try self.init(token: token, overrides, place: "field ")
        }
    }

    private typealias Field = (name: String, value: String)

    private init(token: Field?, _ overrides: [Override], place: String) throws(UsageError) {
        self.place = place
        self.overrides = overrides
        guard let token else { throw UsageError("has no token") }
        do throws(UsageError) {
            self.token = try DeviceToken(argument: token.value.trimmingSpaces)
        } catch {
            throw place.isEmpty ? error : UsageError("\(place)\(token.name): \(error)")
        }
    }

    private static func isText(_ line: ArraySlice<UInt8>) -> Bool {
        String(validating: line, as: UTF8.self) != nil
    }

    /// Returns the name of a column or a member as options are written: in lower case, with hyphens.
    ///
    /// A name that may be a secret is that of no option, and is replaced by its description: a secret in lower case
    /// would no longer be recognized.
    static func normalized(
        _ name: String,
        among options: Set<String> = NotificationOptions.overridableNames
    ) -> String {
        let text = String(name.lowercased().map { $0 == "_" || $0 == " " ? "-" : $0 })
        guard !isTokenName(text), !options.contains(text) else { return text }
        let shown = ShownValue(name)
        return shown.isWhole ? text : shown.description
    }

    static func isTokenName(_ name: String) -> Bool {
        ["token", "device-token", "devicetoken", "push-token", "apns-token"].contains(name)
    }

    private static func members(of line: ArraySlice<UInt8>) throws(UsageError) -> [Field] {
        guard let members = try JSONValue(Array(line)).members else { throw UsageError("must be a JSON object") }
        return members.map { member in
            let text = member.value.stringValue ?? String(decoding: member.value.encoded(), as: UTF8.self)
            return (normalized(member.name), text)
        }
    }
}
