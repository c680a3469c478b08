// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The values that are stored with a push, derived from its headers.
extension PushHeaders {
    /// The time for which the relay tries to send a push that Apple attempts to deliver only once, in milliseconds.
    private static let attemptOnceTime: Int64 = 60_000

    /// Returns the time when the push expires, in milliseconds since 1970; nil for never.
    ///
    /// Apple attempts to deliver a push with a past expiration once. The relay tries to send such a push for a minute;
    /// any other is not sent after its expiration, however soon that is.
    func expiry(at now: Int64) -> Int64? {
        guard let seconds = expiration.flatMap({ Int64($0) }) else { return nil }
        let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
        let end = overflows ? (seconds < 0 ? .min : .max) : milliseconds
        return end > now ? end : now + PushHeaders.attemptOnceTime
    }

    /// Returns the order key of the push, by its activity, its channel or its collapse identifier; nil without any.
    func orderKey(for destination: PushDestination) -> String? {
        switch destination {
        case .channel(let channel, let bundle): return "channel \(bundle) \(channel)"
        case .device(let token):
            if pushType == PushType.liveActivity.rawValue { return "activity \(token.hex)" }
            return collapseID.map { "collapse \(token.hex) \($0)" }
        }
    }
}
