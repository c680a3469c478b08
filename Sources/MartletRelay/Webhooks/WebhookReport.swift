// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A report of unregistered tokens or of ended jobs, signed by Standard Webhooks (https://www.standardwebhooks.com).
struct WebhookReport {
    /// The identifier, which is the same for repeated reports of the same tokens or jobs.
    let id: String
    let body: [UInt8]
    /// The time in seconds since 1970.
    let time: Int64

    /// Sends the report, through the proxy for the server of the webhook if there is one.
    ///
    /// - Throws: ``RelayError`` when the receiver has not accepted the report; it contains the status or the error, but
    ///   neither the query of the URL nor the secret.
    func send(
        to webhook: Webhook,
        through proxies: HTTPProxies = HTTPProxies(),
        on loop: EventLoop
    ) async throws(RelayError) {
        let fields: HTTPFields
        do throws(CryptographyError) {
            fields = try self.fields(signedWith: webhook.secret)
        } catch {
            throw RelayError("the report cannot be signed: \(error)")
        }
        let allowsAll = webhook.allowsPrivateAddresses
        let address = webhook.address
        var call = HTTP1Call(host: address.host, port: address.port, tls: webhook.tls) { allowsAll || $0.isPublic }
        // The status is the answer; the body may have no end.
        call.readsBody = false
        call.proxy = try proxies.proxy(for: address)
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

    /// Returns the fields with the identifier, the time and the signature.
    func fields(signedWith secret: [UInt8]) throws(CryptographyError) -> HTTPFields {
        let code = try SHA256.authenticationCode(of: Array("\(id).\(time).".utf8) + body, key: secret)
        return [
            "content-type": "application/json", "webhook-id": id, "webhook-timestamp": String(time),
            "webhook-signature": "v1," + Data(code).base64EncodedString(),
        ]
    }
}

extension WebhookReport {
    /// Creates a report of tokens, at least one, at a time in milliseconds since 1970.
    init(_ tokens: [UnregisteredToken], of app: String, at now: Int64) {
        let data: JSONValue = ["app": .string(app), "unregistered-tokens": .array(tokens.map(\.json))]
        let id = "unregistered-tokens.\(app).\(tokens.last?.cursor ?? 0)"
        self.init("tokens.unregistered", data, id: id, at: now)
    }

    /// Creates a report of jobs that have ended, at least one, at a time in milliseconds since 1970.
    init(_ jobs: [StoredJob], of app: String, at now: Int64) {
        let data: JSONValue = ["app": .string(app), "jobs": .array(jobs.map(\.json))]
        self.init("jobs.ended", data, id: "jobs-ended.\(app).\(jobs.last?.endCursor ?? 0)", at: now)
    }

    private init(_ type: String, _ data: JSONValue, id: String, at now: Int64) {
        let report: JSONValue = ["type": .string(type), "timestamp": .number(JSONNumber(now)), "data": data]
        self.init(id: id, body: report.encoded(), time: now / 1_000)
    }
}
