// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL

/// The right that the user of a connection lacks.
///
/// PostgreSQL names the object and not the right, as in "permission denied for table push".
struct MissingRight {
    private let user: String
    /// The kind of the object; empty for a message in another language.
    private let kind: String
    private let object: String

    /// Reads the error of a statement; nil for one with another cause.
    init?(_ error: PostgreSQLError) {
        guard case .denied(let user) = error.kind else { return nil }
        self.user = MissingRight.identifier(user)
        let words = error.description.split(separator: " ").map(String.init)
        let isNamed = words.count > 4 && words.starts(with: ["permission", "denied", "for"])
        kind = isNamed ? words[3] : ""
        object = isNamed ? MissingRight.identifier(words[4]) : ""
    }

    /// The right and the statement that grants it, for the end of a message.
    ///
    /// The relay creates and drops partitions, which only the owner of a table may.
    var advice: String {
        if kind == "database" { return "its owner has to run GRANT CREATE ON DATABASE \(object) TO \(user)" }
        let right =
            switch kind {
            case "table": "SELECT, INSERT, UPDATE and DELETE"
            case "schema", "sequence": "USAGE"
            case "function": "EXECUTE"
            default: "the rights of the owner"
            }
        return "\(user) needs \(right): connect as the role that owns the schema martlet, or run GRANT owner TO \(user)"
            + " with the name of that role"
    }

    /// Returns a name as SQL has it, in quotation marks if it needs them.
    private static func identifier(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
