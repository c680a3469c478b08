// SPDX-License-Identifier: Apache-2.0

internal import CMartletPostgreSQL

/// A connection string of libpq that can be used, `postgresql://…` or `host=… dbname=…`
/// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
///
/// It may contain a password. ``description`` does not: it has only the user, hosts, ports and database that libpq
/// reads from the string.
package struct ConnectionString: Sendable, Hashable, CustomStringConvertible {
    /// The location of the database for logs, such as `postgresql://user@host:5432/database`.
    package let description: String

    /// Reads a connection string.
    ///
    /// Returns nil if libpq cannot read it, or would take a part of a password for another part of the string because
    /// the password has characters that must be percent-encoded in a URI (RFC 3986 §2.2).
    package init?(_ text: String) {
        guard let options = PQconninfoParse(text, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        let hosts = ConnectionString.list(values["host"] ?? values["hostaddr"])
        let ports = ConnectionString.list(values["port"])
        guard ports.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }) else {
            return nil
        }
        // A second @, or one after the host, ends a password with special characters that are not encoded.
        if ConnectionString.isURI(text), let start = text.firstRange(of: "://")?.upperBound {
            let authority = text[start...].prefix { !"/?".contains($0) }
            let path = text[authority.endIndex...].prefix { $0 != "?" }
            guard authority.count(where: { $0 == "@" }) <= 1, !path.contains("@") else { return nil }
        }
        let addresses = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return port.isEmpty ? host : "\(host):\(port)"
        }
        let user = values["user"].map { "\($0)@" } ?? ""
        let database = values["dbname"].map { "/\($0)" } ?? ""
        description = "postgresql://\(user)\(addresses.joined(separator: ","))\(database)"
    }

    /// The rule for connection strings, as the end of a message.
    package static let rule =
        "must have the form postgresql://user:password@host:port/database, with special characters percent-encoded"

    /// Returns whether a text is a connection string, correct or not, and not the path of a file.
    package static func isIntended(by text: String) -> Bool {
        if text.contains("://") { return true }
        guard let end = text.firstIndex(of: "=") else { return false }
        let keyword = text[..<end].filter { !$0.isWhitespace }
        guard !keyword.isEmpty, let options = PQconninfoParse("\(keyword)=1", nil) else { return false }
        PQconninfoFree(options)
        return true
    }

    private static func isURI(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    private static func list(_ value: String?) -> [String] {
        value.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }
}
