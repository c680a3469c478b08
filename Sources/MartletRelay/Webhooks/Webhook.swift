// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The configuration of a webhook that receives an app's unregistered tokens and ended jobs.
package struct Webhook: Sendable {
    let address: WebAddress
    /// The TLS settings; nil for `http://`.
    let tls: TLSContext?
    let allowsPrivateAddresses: Bool
    /// The key that signs reports.
    let secret: [UInt8]

    /// The URL without its query, which may contain a secret.
    package var url: String { "\(address)" }

    /// Whether the URL has an address of a private network, which the webhook may not call.
    var hasPrivateAddress: Bool {
        guard !allowsPrivateAddresses else { return false }
        return address.host == "localhost" || SocketAddress(literal: address.host, port: 0)?.isPublic == false
    }

    /// Creates a webhook.
    ///
    /// - Parameters:
    ///   - url: `https://`, or `http://` where private addresses are allowed.
    ///   - secret: The shared secret: `whsec_` and the base64 of 24 to 64 bytes.
    ///   - authorities: PEM certificates to trust besides the system's; nil for none.
    ///   - allowsPrivateAddresses: Whether private and loopback addresses may be called; false by default, so that a
    ///     URL in the configuration cannot reach services in the relay's network.
    /// - Throws: ``RelayError`` with the reason.
    package init(
        url: String,
        secret: String,
        authorities: String? = nil,
        allowsPrivateAddresses: Bool = false
    ) throws(RelayError) {
        guard let address = WebAddress(url), address.isEncrypted || allowsPrivateAddresses else {
            throw RelayError(
                "url must be an https:// URL without spaces, or an http:// URL where private addresses are allowed"
            )
        }
        self.address = address
        let prefix = SecretPrefix.webhook.rawValue
        guard secret.hasPrefix(prefix), let bytes = Data(base64Encoded: String(secret.dropFirst(prefix.count))),
            (24...64).contains(bytes.count)
        else { throw RelayError("the secret must be whsec_ and the base64 of 24 to 64 bytes") }
        self.secret = Array(bytes)
        self.allowsPrivateAddresses = allowsPrivateAddresses
        do throws(TransportError) {
            tls = address.isEncrypted ? try .http1Client(authorities: authorities) : nil
        } catch {
            throw RelayError("\(error)")
        }
    }
}

extension Webhook: ConfigurationPart {
    private static let url = SettingKey("url", .text("URL"), .required, .reload)
        .help("`https://` URL that reports are posted to")
    private static let secretFile = SettingKey("secret-file", .secretFile, .required, .reload)
        .help("file with the signing secret: `whsec_` and the base64 of 24 to 64 bytes")
    private static let authorities = SettingKey("authorities", .file, .none, .reload)
        .help("PEM certificates to trust besides the system's")
    private static let allowPrivate = SettingKey("allow-private", .flag, .value(false), .reload)
        .help("whether private and loopback addresses may be called, and `http://`")

    static let settings: [Setting<Self>] = [
        Setting(separate: url), Setting(separate: secretFile), Setting(separate: authorities),
        Setting(separate: allowPrivate),
    ]

    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) {
        let secret = try Self.secretFile.value(in: object, places).filter { !$0.isWhitespace }
        let authorities = try Self.authorities.valueIfPresent(in: object, places)
        let url = try Self.url.value(in: object, places)
        let allowsPrivateAddresses = try Self.allowPrivate.value(in: object, places)
        do throws(RelayError) {
            try self.init(
                url: url,
                secret: secret,
                authorities: authorities,
                allowsPrivateAddresses: allowsPrivateAddresses
            )
        } catch {
            throw RelayError("\(object.path): \(error)")
        }
    }
}
