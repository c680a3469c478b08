// SPDX-License-Identifier: Apache-2.0

/// Decides whether the wall clock is trusted for the deletion of outcomes.
///
/// The wall clock is compared with a clock that is never adjusted. After a jump, and after the start of the relay, the
/// wall clock is trusted again when the two have agreed for an hour: a clock that was set ahead by mistake is usually
/// corrected before that.
struct ClockWatch {
    /// The difference between the two clocks that counts as a jump, in milliseconds.
    static let tolerance: Int64 = 60_000
    /// The time without a jump after which the wall clock is trusted.
    static let confirmation = Duration.seconds(3_600)

    /// The readings of the last call: milliseconds since 1970, and the time by the other clock.
    private var last: (wall: Int64, steady: Duration)?
    /// The time of the start or of the last jump, by the other clock.
    private var jumpedAt = Duration.zero

    /// Compares the wall clock, in milliseconds, with a clock that is never adjusted and advances during suspension.
    ///
    /// - Returns: The milliseconds by which the wall clock has jumped, negative for a jump back; nil without a jump.
    mutating func record(wall: Int64, steady: Duration) -> Int64? {
        defer { last = (wall, steady) }
        guard let last else {
            jumpedAt = steady
            return nil
        }
        let jump = (wall - last.wall) - Int64((steady - last.steady) / .milliseconds(1))
        guard abs(jump) > ClockWatch.tolerance else { return nil }
        jumpedAt = steady
        return jump
    }

    /// Whether outcomes may be deleted by the time of the wall clock.
    var isTrusted: Bool { last.map { $0.steady - jumpedAt >= ClockWatch.confirmation } ?? false }
}
