// SPDX-License-Identifier: Apache-2.0

/// The limit of the requests of each phone, so that one phone cannot keep the store busy.
struct RequestBudget: Sendable {
    /// The number of requests of a phone in a period.
    static let limit = 60
    /// The length of a period, in milliseconds.
    static let period: Int64 = 60_000
    /// The maximum number of phones whose requests are counted; with more of them, counting begins again.
    static let phones = 100_000

    private var endsAt = Int64.min
    private var counts: [[UInt8]: Int] = [:]

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - credential: The hash of a valid credential, since invalid ones could be of any number.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The time until the next request, in seconds; nil when this one is within the limit.
    mutating func take(_ credential: [UInt8], at now: Int64) -> Int? {
        let (start, overflows) = endsAt.subtractingReportingOverflow(Self.period)
        // A clock that was set back starts a period, too.
        if now >= endsAt || overflows || now < start || counts.count >= Self.phones {
            counts = [:]
            endsAt = now.addingReportingOverflow(Self.period).partialValue
        }
        let count = counts[credential, default: 0]
        guard count < Self.limit else { return max(1, Int((endsAt - now + 999) / 1_000)) }
        counts[credential] = count + 1
        return nil
    }
}
