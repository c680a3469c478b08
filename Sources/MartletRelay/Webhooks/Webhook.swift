internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A webhook that receives an app's unregistered tokens, by Standard Webhooks (https://www.standardwebhooks.com).
package struct Webhook: Sendable {
    /// The address to call.
    private let address: WebAddress
    private let tls: TLSContext?
    private let allowsPrivateAddresses: Bool
    private let secret: [UInt8]

    /// The URL without its query, which may contain a secret.
    package var url: String { "\(address)" }

    /// Whether the URL has an address of a private network, which the webhook may not call.
    var isOutOfReach: Bool {
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
            throw RelayError("url must begin with https://, or with http:// where private addresses are allowed")
        }
        self.address = address
        let prefix = "whsec_"
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

    /// Reports unregistered tokens.
    ///
    /// - Parameters:
    ///   - tokens: The tokens, at least one.
    ///   - app: The app.
    ///   - now: The time in milliseconds since 1970.
    ///   - loop: The event loop of the connection.
    /// - Throws: ``RelayError`` when the receiver has not accepted the report; it contains the status or the error, but
    ///   neither the query of the URL nor the secret.
    func report(_ tokens: [UnregisteredToken], of app: String, at now: Int64, on loop: EventLoop)
        async throws(RelayError)
    {
        let body = Webhook.body(tokens, of: app, at: now)
        // Repeated reports of the same tokens have the same identifier.
        let id = "dead-tokens.\(app).\(tokens.last?.cursor ?? 0)"
        let fields: HTTPFields
        do throws(CryptographyError) {
            fields = try signed(body, id: id, at: now / 1_000)
        } catch {
            throw RelayError("the report cannot be signed: \(error)")
        }
        let allowsAll = allowsPrivateAddresses
        var call = HTTP1Call(host: address.host, port: address.port, tls: tls) { allowsAll || $0.isPublic }
        // The status is the answer; the body may have no end.
        call.readsBody = false
        let answer: HTTPResponse
        do throws(TransportError) {
            answer = try await call.send(
                "POST",
                address.path,
                fields: fields,
                body: body,
                within: .seconds(20),
                on: loop
            )
        } catch {
            throw RelayError("\(error)")
        }
        guard (200..<300).contains(answer.status) else { throw RelayError("the answer was status \(answer.status)") }
    }

    /// Returns the fields of a signed report: its identifier, its time and its signature.
    func signed(_ body: [UInt8], id: String, at seconds: Int64) throws(CryptographyError) -> HTTPFields {
        let code = try SHA256.authenticationCode(of: Array("\(id).\(seconds).".utf8) + body, key: secret)
        return [
            "content-type": "application/json", "webhook-id": id, "webhook-timestamp": String(seconds),
            "webhook-signature": "v1," + Data(code).base64EncodedString(),
        ]
    }

    private static func body(_ tokens: [UnregisteredToken], of app: String, at now: Int64) -> [UInt8] {
        let report: JSONValue = [
            "type": "tokens.dead", "timestamp": .number(JSONNumber(now)),
            "data": ["app": .string(app), "dead-tokens": .array(tokens.map(\.json))],
        ]
        return report.encoded()
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

    /// The settings of a webhook.
    static let settings: [Setting<Self>] = [
        Setting(separate: url), Setting(separate: secretFile), Setting(separate: authorities),
        Setting(separate: allowPrivate),
    ]

    /// Reads a webhook.
    init(_ object: ConfigurationField, _ places: FilePlaces) throws(RelayError) {
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
