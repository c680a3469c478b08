// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A warning that the key of a caller or a certificate expires soon, or has expired.
package struct ExpiryWarning: Sendable, Hashable, CustomStringConvertible {
    /// The part of the configuration that expires.
    fileprivate enum Subject: Hashable {
        case caller(String)
        case certificates(setting: String)
    }

    /// The number of days before the expiry from which on there is a warning.
    fileprivate static let noticeDays: Int64 = 30
    fileprivate static let day: Int64 = 86_400

    private let subject: Subject
    /// The time of the expiry, in seconds since 1970.
    let expiry: Int64
    /// The number of whole days that are left, rounded down; negative after the expiry.
    private let days: Int64
    /// Whether the key or certificate has expired.
    let isExpired: Bool

    /// Whether the certificate that the relay presents to clients has expired, so that none of them can connect.
    package var isOfExpiredServerCertificate: Bool { isExpired && subject == .certificates(setting: "certificate") }

    fileprivate init(_ subject: Subject, _ expiry: Int64, at now: Int64) {
        self.subject = subject
        self.expiry = expiry
        isExpired = expiry <= now
        days = Int64((Double(expiry - now) / Double(ExpiryWarning.day)).rounded(.down))
    }

    /// The warning in a sentence.
    package var description: String {
        switch subject {
        case .caller(let name):
            isExpired
                ? "the caller \(name) expired at \(time): its requests are refused"
                : "the caller \(name) expires at \(time), in \(timeLeft): make a new key"
        case .certificates(let setting):
            isExpired
                ? "\(setting): a certificate expired at \(time): clients cannot connect with it"
                : "\(setting): a certificate expires at \(time), in \(timeLeft): renew it"
        }
    }

    var event: LogEvent {
        switch subject {
        case .caller: isExpired ? .callerExpired : .callerExpiresSoon
        case .certificates: isExpired ? .certificateExpired : .certificateExpiresSoon
        }
    }

    /// The warning as fields of a log line.
    var fields: Logger.Fields {
        let days: JSONValue? = isExpired ? nil : .whole(days)
        return switch subject {
        case .caller(let name): ["caller": .string(name), "expires": .string(time), "days": days]
        case .certificates(let setting): ["setting": .string(setting), "expires": .string(time), "days": days]
        }
    }

    /// The name of the caller that expires; nil for a certificate.
    var caller: String? { if case .caller(let name) = subject { name } else { nil } }

    /// The number of days before the expiry from which on an operator has to act.
    private static let urgentDays: Int64 = 14

    /// Returns the warning as an incident of some apps.
    func incident(_ apps: [String]) -> Incident {
        let name =
            switch subject {
            case .caller(let name): "The caller \(name)"
            case .certificates(let setting): "A certificate of the setting \(setting)"
            }
        let isUrgent = isExpired || days < ExpiryWarning.urgentDays
        let isCaller = caller != nil
        return Incident(
            kind: isCaller ? .callerExpires : .certificateExpires,
            severity: isOfExpiredServerCertificate ? .critical : isUrgent ? .warning : .notice,
            title: isExpired ? "\(name) has expired" : "\(name) expires in \(timeLeft)",
            apps: apps,
            since: isExpired ? expiry * 1_000 : nil,
            effect: isExpired
                ? isCaller ? "Its requests are refused." : "Clients cannot connect with it." : "",
            action: isCaller
                ? "Make a new key with martlet relay keys make, and add it"
                    + (isExpired ? " in place of the old one." : " before the old one expires.")
                : "Renew it, and run systemctl reload martlet-relay."
        )
    }

    /// The time that is left before the expiry, as text.
    private var timeLeft: String { days == 0 ? "less than a day" : days.counted("day") }

    private var time: String { Timestamp.text(expiry * 1_000) }
}

extension RelayConfiguration {
    /// Returns the warnings about callers and certificates that expire within 30 days or have expired.
    ///
    /// The time is in seconds since 1970.
    package func expiryWarnings(at now: Int64) -> [ExpiryWarning] {
        let end = now + ExpiryWarning.noticeDays * ExpiryWarning.day
        let callers = callers.compactMap { caller -> ExpiryWarning? in
            guard let expiry = caller.expiresAt?.secondsSince1970, expiry < end else { return nil }
            return ExpiryWarning(.caller(caller.name), expiry, at: now)
        }
        let certificates = certificateExpiries.filter { $0.expiry < end }.map {
            ExpiryWarning(.certificates(setting: $0.setting), $0.expiry, at: now)
        }
        return callers + certificates
    }

    /// The settings with certificates, each with the time at which its first certificate expires, in seconds since
    /// 1970.
    var certificateExpiries: [(setting: String, expiry: Int64)] {
        let texts = [("certificate", identity?.certificateChainPEM), ("client-authorities", clientAuthorities)]
        return texts.compactMap { setting, pem in
            pem.flatMap(CertificateFacts.earliestExpiry).map { (setting, $0) }
        }
    }
}
