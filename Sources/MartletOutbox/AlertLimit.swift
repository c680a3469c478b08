// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A limit of the alerts that a user gets on a day, which a push to the user counts towards.
package struct AlertLimit: Sendable, Hashable {
    /// The maximum number of requests with an alert to the user.
    ///
    /// A request whose pushes have all been cancelled, superseded or expired before an attempt does not count.
    package var perDay: Int
    /// The identifier of the request that the push belongs to: its pushes to several phones of the user count once.
    package var request: APNsID

    package init(perDay: Int, request: APNsID) {
        self.perDay = perDay
        self.request = request
    }

    /// Returns the day in UTC of a time in milliseconds since 1970, as the number of days since 1970.
    package static func day(of time: Int64) -> Int64 { time / dayLength }

    /// The length of a day in milliseconds.
    fileprivate static let dayLength: Int64 = 86_400_000
}

extension OutboxPush {
    /// Returns the day on which the push is due, as the number of days since 1970 in UTC.
    ///
    /// - Parameter now: The time of acceptance, in milliseconds since 1970.
    /// - Returns: The number of the day.
    package func day(acceptedAt now: Int64) -> Int64 { AlertLimit.day(of: max(now, notBefore ?? now)) }

    /// Returns the end of the day on which the push is due, in milliseconds since 1970.
    ///
    /// - Parameter now: The time of acceptance, in milliseconds since 1970.
    /// - Returns: The first time of the next day in UTC.
    package func endOfDay(acceptedAt now: Int64) -> Int64 { (day(acceptedAt: now) + 1) * AlertLimit.dayLength }
}
