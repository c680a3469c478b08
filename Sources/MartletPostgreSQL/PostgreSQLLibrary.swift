// SPDX-License-Identifier: Apache-2.0

internal import CMartletPostgreSQL

/// The client library of PostgreSQL that this process uses.
package enum PostgreSQLLibrary {
    /// The version, such as `15.14`.
    package static var version: String {
        let number = Int(PQlibVersion())
        return "\(number / 10_000).\(number % 10_000)"
    }
}
