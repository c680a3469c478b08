// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL

/// The rows that wait for work of a relay, in which apps take turns.
extension PostgreSQLSurfaces {
    /// Returns the call that selects the numbers of waiting rows as `waiting`, with their `turn` and the time `since`
    /// which they wait; its parameters are ``waitingLimits(_:until:)``.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - condition: The condition of a row `r` that waits.
    ///   - time: The column with the time since which a row waits.
    /// - Returns: The call of a function that returns rows.
    static func waiting(_ table: String, _ condition: String, _ time: String) -> String {
        "martlet.waiting_rows('\(table)', '\(condition)', '\(time)', $1, $2, $3)"
    }

    /// Returns the parameters for a number of rows, half of them oldest ones, that wait since a time at the latest.
    static func waitingLimits(_ limit: Int, until time: Int64 = .max) -> [Parameter] {
        [.integer(time), .integer(Int64(limit - limit / 2)), .integer(Int64(limit / 2))]
    }
}
