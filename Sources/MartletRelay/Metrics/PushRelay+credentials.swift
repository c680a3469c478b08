internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Metrics and warnings about the credentials of callers.
extension PushRelay {
    /// The interval between warnings about credentials that expire soon.
    private static let expiryCheckInterval = Duration.seconds(86_400)

    /// Adds the credentials of callers whose apps are all among these.
    func addCredentials(to sheet: inout MetricSheet, _ apps: Set<String>) {
        sheet.family(
            "martlet_relay_unusual_provider_tokens_total",
            .counter,
            "Connections with a provider token of a form that Apple's documentation does not describe."
        )
        for deviation in ProviderTokenDeviation.allCases {
            sheet.add(["form": deviation.label], counts.unusualTokens[deviation, default: 0])
        }
        sheet.family(
            "martlet_relay_caller_expiry_timestamp_seconds",
            .gauge,
            "The time from which on the key or certificate of a caller is refused, in seconds since 1970."
        )
        for caller in configuration.callers where caller.apps.isSubset(of: apps) {
            guard let expiry = caller.expiresAt else { continue }
            sheet.add(["caller": caller.name], expiry.secondsSince1970)
        }
    }

    /// Warns now and once a day of keys and certificates that expire soon or have expired.
    func watchExpiry() {
        logExpiry()
        loop.schedule(after: PushRelay.expiryCheckInterval) { [weak self] in
            self?.assumeIsolated { $0.watchExpiry() }
        }
    }

    /// Warns of the keys and certificates that expire soon or have expired.
    func logExpiry() {
        expiryLoggedAt = now / 1_000
        for warning in configuration.expiryWarnings(at: Date(millisecondsSince1970: now)) {
            log.warning(warning.message, warning.fields)
        }
    }

    /// Warns of the keys and certificates that have expired since the last warning; called once a second.
    func logNewExpiry() {
        let now = now / 1_000
        let last = expiryLoggedAt
        expiryLoggedAt = now
        guard now > last else { return }
        for warning in configuration.expiryWarnings(at: Date(millisecondsSince1970: now * 1_000))
        where warning.isExpired && warning.expiry > last {
            log.warning(warning.message, warning.fields)
        }
    }
}

extension ProviderTokenDeviation {
    /// The name in metrics.
    fileprivate var label: String {
        switch self {
        case .textIssuedAt: "text-iat"
        case .fractionalIssuedAt: "fractional-iat"
        case .issuedAtNotation: "iat-notation"
        case .derSignature: "der-signature"
        }
    }
}
