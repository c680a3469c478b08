internal import APNs

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A warning that the key or the certificate of a caller expires soon, or has expired.
package struct ExpiryWarning: Sendable, Hashable, CustomStringConvertible {
    /// The days before the expiry from which on there is a warning.
    fileprivate static let noticeDays: Int64 = 30
    fileprivate static let day: Int64 = 86_400

    let caller: String
    private let expiry: Int64
    /// The whole days that are left, rounded down; negative after the expiry.
    private let days: Int64

    /// Whether the caller is refused already.
    var isExpired: Bool { days < 0 }

    fileprivate init(caller: String, expiry: Int64, at now: Int64) {
        self.caller = caller
        self.expiry = expiry
        days = Int64((Double(expiry - now) / Double(ExpiryWarning.day)).rounded(.down))
    }

    /// The warning in a sentence.
    package var description: String {
        isExpired
            ? "the caller \(caller) expired at \(time): its requests are refused"
            : "the caller \(caller) expires at \(time), in \(days) days: make a new key"
    }

    /// The warning as fields of a log line.
    var fields: Logger.Fields {
        ["caller": .string(caller), "expires": .string(time), "days": isExpired ? nil : .whole(days)]
    }

    private var time: String { Timestamp.text(expiry * 1_000) }
}

extension RelayConfiguration {
    /// The warnings about callers that expire within 30 days or have expired.
    package func expiryWarnings(at now: Date) -> [ExpiryWarning] {
        let now = now.secondsSince1970
        return callers.compactMap { caller in
            guard let expiry = caller.expiresAt?.secondsSince1970,
                expiry < now + ExpiryWarning.noticeDays * ExpiryWarning.day
            else { return nil }
            return ExpiryWarning(caller: caller.name, expiry: expiry, at: now)
        }
    }
}
