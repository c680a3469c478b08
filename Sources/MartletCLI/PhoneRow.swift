// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

/// The conversion of phones between the columns of a list and the JSON of the relay.
enum PhoneRow {
    /// The columns with text in the relay's JSON, in the order of an exported list.
    private static let texts = [
        "id", "user", "environment", "bundle-id", "locale", "time-zone", "app-version", "system-version", "model",
    ]
    /// The columns that are permissions in the relay's JSON.
    private static let permissions = ["alerts", "live-activities", "frequent-updates"]

    /// The columns besides the device token.
    static let columns = Set(texts + permissions + ["tags"])

    /// The members of JSON lines besides the device token.
    private static let members = columns.union(["tokens", "activities", "permissions"])

    /// The heading of an exported list.
    static let heading = ["token"] + texts + permissions + ["tags"]

    // MARK: Import

    /// Checks that a list has the columns that are needed.
    static func check(_ format: DeviceRow.Format) throws(UsageError) {
        switch format {
        case .json: break
        case .columns(let columns):
            guard columns.contains(where: { $0.name == "user" }) else {
                throw UsageError("the heading must name a column user")
            }
        case .plain:
            throw UsageError("is neither the heading of CSV, with the columns user and token, nor a JSON object")
        }
    }

    /// Returns the JSON for the relay of a line.
    static func installation(
        _ line: ArraySlice<UInt8>,
        _ format: DeviceRow.Format
    ) throws(UsageError) -> JSONValue {
        guard format == .json else {
            let row = try DeviceRow(line, format)
            return try installation(row.token, row.overrides)
        }
        guard String(validating: line, as: UTF8.self) != nil else { throw UsageError("is not valid UTF-8") }
        guard let found = try JSONValue(Array(line)).members else { throw UsageError("must be a JSON object") }
        var result = Members()
        // Databases write null for an empty column.
        for member in found where member.value != .null {
            let name = DeviceRow.normalized(member.name, among: members)
            switch name {
            case _ where DeviceRow.isTokenName(name): result.tokens.append(.init("device", member.value))
            case "tokens" where member.value.members != nil: result.tokens += member.value.members ?? []
            case "permissions" where member.value.members != nil: result.permissions += member.value.members ?? []
            case _ where permissions.contains(name): result.permissions.append(.init(name, member.value))
            case "id": result.rest.append(.init(name, lowercased(member.value)))
            case "user":
                // Databases write a numeric identifier without quotation marks.
                let text = member.value.integerValue.map { JSONValue.string(String($0)) }
                result.rest.append(.init(name, text ?? member.value))
            default: result.rest.append(.init(name, member.value))
            }
        }
        return result.json
    }

    private static func installation(
        _ token: DeviceToken,
        _ cells: [DeviceRow.Override]
    ) throws(UsageError) -> JSONValue {
        var result = Members()
        result.tokens = [.init("device", .string(token.hex))]
        for found in cells {
            let cell = DeviceRow.Override(name: found.name, value: unmarked(found.value))
            switch cell.name {
            case "tags": result.rest.append(.init("tags", .strings(tags(in: cell.value))))
            case "id": result.rest.append(.init("id", lowercased(.string(cell.value))))
            case let name where permissions.contains(name):
                result.permissions.append(.init(name, .bool(try flag(cell))))
            default: result.rest.append(.init(cell.name, .string(cell.value)))
            }
        }
        return result.json
    }

    /// The members of an installation in the relay's JSON.
    private struct Members {
        var rest: [JSONValue.Member] = []
        var tokens: [JSONValue.Member] = []
        var permissions: [JSONValue.Member] = []

        var json: JSONValue {
            var members = rest
            if !tokens.isEmpty { members.append(.init("tokens", .object(tokens))) }
            if !permissions.isEmpty { members.append(.init("permissions", .object(permissions))) }
            return .object(members)
        }
    }

    /// Returns an identifier in lower case, as the relay requires it.
    private static func lowercased(_ id: JSONValue) -> JSONValue {
        id.stringValue.map { .string($0.lowercased()) } ?? id
    }

    /// Returns the tags in a cell, with spaces, commas or semicolons between, or as an array of PostgreSQL.
    private static func tags(in cell: String) -> [String] {
        cell.split { " ,;{}".contains($0) }.map(String.init)
    }

    /// Returns the value of a cell with a permission, also as PostgreSQL writes it.
    private static func flag(_ cell: DeviceRow.Override) throws(UsageError) -> Bool {
        switch cell.value.lowercased() {
        case "true", "t", "1": return true
        case "false", "f", "0": return false
        default:
            throw UsageError("column \(cell.name): must be true or false (found \(ShownValue.quoted(cell.value)))")
        }
    }

    /// Returns the message about a row that the relay has refused; in CSV it names the column, as the message about a
    /// row that is not sent does.
    static func message(of problem: JSONValue, _ format: DeviceRow.Format) -> String {
        let message = problem["detail"]?.stringValue ?? "is refused"
        guard case .columns(let columns) = format, let pointer = problem["pointer"]?.stringValue else { return message }
        let steps = pointer.split(separator: "/").map(String.init)
        let column = columns.first { column in
            switch column.role {
            case .token: steps.first == "tokens"
            case .option: steps.contains(column.name)
            case .ignored: false
            }
        }
        guard let column else { return message }
        let subject = steps.joined(separator: ".") + " "
        let rule = message.hasPrefix(subject) ? String(message.dropFirst(subject.count)) : message
        return "column \(column.name): \(rule)"
    }

    // MARK: Export

    /// Returns an installation of the relay as an import reads it.
    static func line(of installation: JSONValue) -> String {
        let others = ["app", "created-at", "changed-at", "seen-at"]
        return JSONValue.object((installation.members ?? []).filter { !others.contains($0.name) }).line
    }

    /// Returns whether an installation of the relay has the token of a Live Activity.
    private static func hasActivityToken(_ installation: JSONValue) -> Bool {
        (installation["activities"]?.members ?? []).contains { $0.value["token"] != nil }
    }

    /// Returns whether an installation of the relay has a token.
    static func hasToken(_ installation: JSONValue) -> Bool {
        installation["tokens"]?.members?.isEmpty == false || hasActivityToken(installation)
    }

    /// Returns an installation of the relay as a record of CSV; nil if it has other tokens than that of the device.
    static func record(of installation: JSONValue) -> String? {
        let tokens = installation["tokens"]?.members ?? []
        guard tokens.count == 1, tokens[0].name == "device", !hasActivityToken(installation) else { return nil }
        var cells = [tokens[0].value.stringValue ?? ""]
        cells += texts.map { installation[$0]?.stringValue ?? "" }
        cells += permissions.map { name in
            guard case .bool(let isGiven)? = installation["permissions"]?[name] else { return "" }
            return isGiven ? "true" : "false"
        }
        cells.append((installation["tags"]?.elements ?? []).compactMap(\.stringValue).joined(separator: " "))
        return record(of: cells)
    }

    /// Returns cells as a record of CSV (RFC 4180).
    static func record(of cells: [String]) -> String { cells.map { quoted(marked($0)) }.joined(separator: ",") + "\n" }

    /// The mark before the text of a cell that spreadsheets would run as a formula.
    private static let mark: Unicode.Scalar = "'"

    /// Returns whether a cell that begins with this character is marked: it begins a formula, or is white space, which
    /// spreadsheets may remove, or is the mark itself, so that a cell is read as it was before it was marked.
    private static func needsMark(_ scalar: Unicode.Scalar) -> Bool {
        "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains(scalar) || scalar == mark
            || scalar.properties.isWhitespace
    }

    /// Returns a cell with the mark, if it needs one.
    ///
    /// The text in cells comes from phones, and spreadsheets run formulas.
    private static func marked(_ cell: String) -> String {
        guard let first = cell.unicodeScalars.first, needsMark(first) else { return cell }
        return String(Character(mark)) + cell
    }

    /// Returns a cell without the mark.
    private static func unmarked(_ cell: String) -> String {
        let text = cell.unicodeScalars.dropFirst()
        guard cell.unicodeScalars.first == mark, let first = text.first, needsMark(first) else { return cell }
        return String(text)
    }

    /// Returns a cell, in quotation marks if it needs them.
    ///
    /// Unicode scalars are compared, because a comma and the combining mark after it are one character.
    private static func quoted(_ cell: String) -> String {
        let scalars = cell.unicodeScalars
        guard scalars.contains(where: { $0 == "," || $0 == "\"" || $0.properties.isWhitespace }) else { return cell }
        let parts = scalars.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
    }
}
