// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension RelayConfiguration {
    /// A client that may use the API, in addition to clients that sign with an app's own key.
    package struct Caller: Sendable, Hashable {
        /// An action that a caller is permitted.
        package enum Scope: String, Sendable, Hashable, CaseIterable {
            /// Sending and cancelling pushes, and counting audiences.
            case send
            /// Reading the status of pushes, and the feeds.
            case read
            /// Everything else, such as dead letters and tokens that have registered again.
            case manage
            /// Issuing tickets, and reading, changing and removing installations with their tokens.
            case installations
        }

        package var name: String
        /// The SHA-256 of the key, 64 hexadecimal digits, because the key itself is not stored; nil without a key.
        package var hash: String?
        /// The client certificate that the caller may use in place of a key; nil for none.
        package var certificate: ClientCertificateRule?
        /// The time from which the key or the certificate is rejected; nil for never.
        package var expiresAt: Date?
        package var apps: Set<String>
        package var scopes: Set<Scope>

        /// Creates a caller.
        package init(
            name: String,
            hash: String?,
            certificate: ClientCertificateRule? = nil,
            expiresAt: Date? = nil,
            apps: Set<String>,
            scopes: Set<Scope>
        ) {
            self.name = name
            self.hash = hash
            self.certificate = certificate
            self.expiresAt = expiresAt
            self.apps = apps
            self.scopes = scopes
        }
    }
}

extension RelayConfiguration.Caller: ConfigurationPart {
    private static let certificateHash = SettingKey("certificate-sha256", .hash, .none, .reload)
        .help("SHA-256 of the client certificate in DER")
    private static let certificateSubject = SettingKey("certificate-subject", .text, .none, .reload)
        .help("subject of client certificates that an authority of `client-authorities` has issued")
    private static let apps = SettingKey("apps", .texts, .required, .reload).help("apps that the key is for")
    private static let scopes = SettingKey("scopes", SettingType<[Scope]>.choices(), .required, .reload)
        .help("what the key allows; at least one")

    static let settings: [Setting<Self>] = [
        Setting(SettingKey("name", .text, .required, .reload), \.name).help("name of the key in logs"),
        Setting(SettingKey("key-sha256", .hash, .none, .reload), \.hash)
            .help("SHA-256 of the key; each caller has a key of its own, or a certificate"),
        Setting(separate: certificateHash),
        Setting(separate: certificateSubject),
        Setting(SettingKey("expires", .date, .described("never"), .reload), \.expiresAt)
            .help("time from which on the key or the certificate is refused"),
        Setting(separate: apps),
        Setting(separate: scopes),
    ]

    /// The settings of which a caller needs at least one.
    static let alternatives = ["key-sha256", "certificate-sha256", "certificate-subject"]

    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) {
        self.init(
            name: "",
            hash: nil,
            apps: Set(try Self.apps.value(in: object, places)),
            scopes: Set(try Self.scopes.value(in: object, places))
        )
        let rule = ClientCertificateRule(
            fingerprint: try Self.certificateHash.valueIfPresent(in: object, places),
            subject: try Self.certificateSubject.valueIfPresent(in: object, places)
        )
        certificate = rule == ClientCertificateRule() ? nil : rule
        try Self.settings.read(object, places, into: &self)
    }
}
