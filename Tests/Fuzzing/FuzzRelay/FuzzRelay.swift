// SPDX-License-Identifier: Apache-2.0

import FuzzDriver
import Martlet
import MartletHTTPServer
import MartletOutbox
import MartletServer

@testable import MartletCore
@testable import MartletRelay
@testable import MartletTransport

/// Fuzzes the relay's input for crashes.
///
/// Covers provider tokens, headers, pushes in JSON, configurations, responses of webhooks, and environment variables.
/// The first byte selects the parser.
@main
struct FuzzRelay: FuzzTarget {
    private static let now: Int64 = 1_790_000_000_000

    static func run(_ bytes: [UInt8]) {
        let rest = Array(bytes.dropFirst())
        switch bytes.first {
        case UInt8(ascii: "0"): claims(rest)
        case UInt8(ascii: "1"): headers(rest)
        case UInt8(ascii: "2"): order(rest)
        case UInt8(ascii: "3"): configuration(rest)
        case UInt8(ascii: "4"): webhookResponse(rest)
        case UInt8(ascii: "5"): variables(rest)
        default: break
        }
    }

    private static func lines(_ bytes: [UInt8], _ count: Int) -> [String] {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: count - 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        return parts + [String](repeating: "", count: count - parts.count)
    }

    /// A header and claims, one per line, with a signature of the right length.
    private static func claims(_ bytes: [UInt8]) {
        let parts = lines(bytes, 2)
        let token = [Array(parts[0].utf8), Array(parts[1].utf8), [UInt8](repeating: 1, count: 64)]
            .map { Base64URL.encode($0) }.joined(separator: [UInt8(ascii: ".")])
        guard let parsed = try? ParsedProviderToken(Array(token)) else { return }
        let caller = Callers.Caller(
            name: "key",
            apps: [],
            scopes: [.send],
            tokenIssuedAt: parsed.claims.issuedAtSeconds
        )
        _ = caller.refusal(at: now / 1_000)
    }

    /// Values of headers, one per line, and a payload.
    private static func headers(_ bytes: [UInt8]) {
        let parts = lines(bytes, 6)
        var fields: HTTPFields = [":method": "POST", ":path": "/3/device/5d3a6a1c"]
        let names = ["apns-push-type", "apns-expiration", "apns-priority", "apns-topic", "apns-collapse-id"]
        for (name, value) in zip(names, parts) where !value.isEmpty { fields.append(name, value) }
        let request = APNsRequest(fields, body: Array(parts[5].utf8))
        guard let tools else { return }
        let ingress = APNsIngress(callers: tools.callers, environment: .production)
        let decision = ingress.decision(on: request, from: tools.builder.caller, id: tools.id, at: now) { _ in true }
        guard case .push(let push) = decision else { return }
        precondition(push.headerRefusal == nil, "an invalid header value is accepted")
        precondition(push.expiresAt ?? .max > now, "an expired push is accepted")
    }

    private static func order(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.read(bytes), let request = try? PushRequest(json), var builder = tools?.builder
        else {
            return
        }
        if request.audience != nil, let app = builder.apps.first { try? builder.checkPayloads(of: request, in: app) }
        let pushes = (try? builder.pushes(of: request)) ?? []
        precondition(pushes.allSatisfy { $0.headerRefusal == nil }, "an invalid header value is accepted")
        precondition(pushes.allSatisfy { $0.expiresAt ?? .max > now }, "an expired push is accepted")
    }

    private static func configuration(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.read(bytes) else { return }
        let places = ConfigurationDirectories(directory: "/nowhere/", credentials: nil)
        let configuration = try? RelayConfiguration(json, places)
        _ = configuration?.remarks
        let telemetry = try? TelemetrySettings(
            ConfigurationField(json, named: "")["telemetry"],
            places,
            variables: [:]
        )
        _ = telemetry?.summary
    }

    private static func webhookResponse(_ bytes: [UInt8]) {
        for isAll in [false, true] {
            var parser = HTTP1ResponseParser(longestBody: 1 << 16)
            let response = response(in: parser.state(of: bytes, isAll: isAll))
            if let response { _ = ExportAnswer(response, at: now) }
            var parserOfPieces = HTTP1ResponseParser(longestBody: 1 << 16)
            let half = Array(bytes.prefix(bytes.count / 2))
            guard case .incomplete = parserOfPieces.state(of: half, isAll: false) else { continue }
            let later = self.response(in: parserOfPieces.state(of: bytes, isAll: isAll))
            precondition(later == response, "a response in two parts has another result")
        }
    }

    private static func response(in state: HTTP1ResponseParser.State) -> HTTPResponse? {
        if case .complete(let response) = state { response } else { nil }
    }

    private static func variables(_ bytes: [UInt8]) {
        let parts = lines(bytes, 3)
        let settings = try? TelemetrySettings(
            ConfigurationField(.null, named: "")["telemetry"],
            ConfigurationDirectories(directory: "/nowhere/", credentials: nil),
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": parts[0], "OTEL_EXPORTER_OTLP_HEADERS": parts[1],
                "OTEL_RESOURCE_ATTRIBUTES": parts[1], "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
                "OTEL_TRACES_SAMPLER_ARG": parts[2], "OTEL_EXPORTER_OTLP_TIMEOUT": parts[2],
            ]
        )
        precondition((0...1).contains(settings?.share ?? 1), "the sampling share is not between 0 and 1")
        _ = try? Webhook(url: parts[0], secret: parts[1])
        _ = WebAddress(parts[0])?.description
        _ = TraceContext(parts[1])?.text
    }

    /// The objects that requests are checked with; nil if no key can be generated.
    private static let tools: (callers: Callers, builder: PushRequestBuilder, id: APNsID)? = {
        guard let key = try? SigningKey.ephemeral(), let id = try? APNsID("123e4567-e89b-42d3-a456-426655440000") else {
            return nil
        }
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: key)
        let configuration = RelayConfiguration(data: .file(""), apps: [app], listeners: [:])
        let endpoint = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: 1, isEncrypted: false))
        guard let callers = try? Callers(configuration),
            let client = try? LaneClient(for: app, at: endpoint, tokens: nil)
        else { return nil }
        let builder = PushRequestBuilder(
            caller: Callers.Caller(name: "back end", apps: ["orders"], scopes: [.send], tokenIssuedAt: nil),
            apps: [app],
            clients: LaneClients([Lane(app: "orders", environment: .production): client]),
            idempotencyKey: nil,
            traceParent: nil,
            now: now,
            generator: SplitMix64(state: 1)
        )
        return (callers, builder, id)
    }()
}
