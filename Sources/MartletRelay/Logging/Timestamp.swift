// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The format of times: RFC 3339 in UTC with milliseconds, such as `2026-11-21T17:40:15.250Z`.
enum Timestamp {
    /// Returns the text of a time in milliseconds since 1970; earlier times are clamped to 1970.
    static func text(_ milliseconds: Int64) -> String {
        CalendarDay.text(millisecondsSince1970: max(0, milliseconds))
    }
}
