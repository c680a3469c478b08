// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The size of a payload, of which only the beginning may have been stored.
package enum PayloadSize: Sendable, Hashable {
    /// The payload has this number of bytes.
    case exactly(Int)
    /// The payload has this number of bytes or more.
    case atLeast(Int)
}

/// The rules for a payload that was too long to be stored: its content is not known, so only its size is checked.
extension PushLint {
    /// Checks a push whose payload was truncated, headers first.
    ///
    /// - Parameters:
    ///   - headers: The headers, as they are sent.
    ///   - payloadSize: The size of the whole payload.
    ///   - date: The time of sending; nil to skip the rules that need a clock.
    /// - Returns: The findings in the order of the rules.
    package static func check(
        headers: PushHeaders,
        payloadSize: PayloadSize,
        at date: Date? = nil
    ) -> [Finding] {
        let push = PushFacts(headers, at: date?.secondsSince1970)
        let findings = HeaderRules.checks.map { $0(headers, push) } + [PayloadRules.size(payloadSize, of: push.type)]
        return findings.compactMap(\.self)
    }

    /// Checks a broadcast whose payload was truncated, headers first.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, as they are sent.
    ///   - payloadSize: The size of the whole payload.
    ///   - date: The time of sending; nil to skip the rules that need a clock.
    /// - Returns: The findings in the order of the rules.
    package static func check(
        broadcastTo app: String,
        channel: String?,
        headers: PushHeaders,
        payloadSize: PayloadSize,
        at date: Date? = nil
    ) -> [Finding] {
        let findings =
            headerFindings(broadcastTo: app, channel: channel, headers, at: date?.secondsSince1970)
            + [PayloadRules.broadcastSize(payloadSize)]
        return findings.compactMap(\.self)
    }
}
