// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite

/// The SQLite library that this process uses.
package enum SQLiteLibrary {
    /// The version, such as `3.40.1`.
    package static var version: String { String(cString: sqlite3_libversion()) }
}
