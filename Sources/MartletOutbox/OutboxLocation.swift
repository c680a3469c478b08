// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletSQLite

/// The location of an outbox.
package enum OutboxLocation: Sendable, Hashable, CustomStringConvertible {
    /// A file of this machine, which only one process can open.
    case file(String)
    /// A PostgreSQL database, which several processes share, by its libpq connection string.
    case database(String)

    /// Creates a location from a path or a connection string of libpq, `postgresql://…` or `host=… dbname=…`.
    package init(_ text: String) {
        self = ConnectionString.isIntended(by: text) ? .database(text) : .file(text)
    }

    /// The rule that the connection string of a database violates, as the end of a message; nil if it is valid.
    package var violatedRule: String? {
        guard case .database(let address) = self, ConnectionString(address) == nil else { return nil }
        return ConnectionString.rule
    }

    /// The space in bytes that this process may still use on the disk of the file; nil for a database, and when it is
    /// not known.
    package var freeSpace: Int64? { space?.free }

    /// The space in bytes that this process may still use on the disk of the file, and the size of the disk; nil for a
    /// database, and when they are not known.
    package var space: (free: Int64, size: Int64)? {
        guard case .file(let path) = self else { return nil }
        return DiskFile.space(beside: path)
    }

    /// The location for logs, without the password and the options of a database's connection string.
    package var description: String {
        switch self {
        case .file(let path): ShownValue(path).description
        case .database(let address): ConnectionString(address)?.description ?? "PostgreSQL"
        }
    }
}
