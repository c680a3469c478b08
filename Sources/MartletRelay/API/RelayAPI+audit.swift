// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

extension RelayAPI {
    /// Returns the audit entry of an answered request; nil for a request that is not audited.
    ///
    /// Names that the relay does not know are not written, because they may be secrets in the wrong place.
    static func auditEntry(
        of request: HTTPRequest,
        _ match: Match,
        _ configuration: RelayConfiguration,
        from caller: Callers.Caller,
        peer: String?,
        answer: HTTP1Answer
    ) -> AuditEntry? {
        guard case .scope(_, let action?)? = match.access else { return nil }
        // A body that is sent in pieces has status 200, and nothing that the entry needs.
        var response = HTTPResponse(status: 200)
        if case .whole(let whole) = answer { response = whole }
        // Neither has a long list of installations.
        let body = response.body.count <= longestReadBody ? response.body : []
        let json = (try? JSONReader.read(body)) ?? .null
        let arguments = match.arguments
        var entry = AuditEntry(caller: caller.name, action: action, isDone: (200..<300).contains(response.status))
        entry.app = (arguments["app"] ?? json["app"]?.stringValue).map { app in
            configuration.appNames.contains(app) ? app : unknownName
        }
        let environment =
            arguments["environment"] ?? json["environment"]?.stringValue
            ?? request.query.first { $0.name == "environment" }?.value
        entry.environment = environment.map { PushEnvironment(rawValue: $0)?.rawValue ?? unknownName }
        let token = arguments["token"].flatMap { try? DeviceToken(hex: $0) }?.description
        let id = arguments["id"].flatMap { try? APNsID($0) }?.description
        let node = arguments["node"].flatMap { Int64($0) }.map { String($0) }
        // The identifier of a surface, which is any text, is known to the relay if its withdrawal succeeds.
        let surface = entry.outcome == .done ? json["id"]?.stringValue : nil
        entry.target = id ?? node ?? token ?? deadLetterIDs(in: request, match) ?? surface
        entry.count = (json["purged"] ?? json["requeued"] ?? json["discarded"])?.integerValue
        entry.peer = peer
        entry.status = response.status
        if response.status == 503, json["result"] == APIProblem.unknownResult.value { entry.outcome = .unknown }
        return entry
    }

    /// The text of an audit entry in place of an app or an environment that the relay does not have.
    private static let unknownName = "unknown"
    /// The maximum size of a response that is read for an audit entry, in bytes.
    private static let longestReadBody = 64 << 10
    /// The maximum number of identifiers in an audit entry.
    private static let targetLimit = 10

    /// Returns the first identifiers of the dead letters that a request names; nil for a request that names none.
    private static func deadLetterIDs(in request: HTTPRequest, _ match: Match) -> String? {
        // The request may have been refused before its body was parsed. The identifier of a surface is any text, so the
        // path is that of the route.
        guard let path = match.path, path.contains("/dead-letters:"),
            let json = try? JSONReader.read(request.body, maximumValueCount: LongRequests.valueLimit)
        else { return nil }
        let ids = (json["ids"]?.elements ?? []).compactMap { $0.stringValue.flatMap { try? APNsID($0) }?.description }
        return ids.isEmpty ? nil : ids.prefix(targetLimit).joined(separator: " ")
    }
}

extension APIProblem {
    /// The member of the problem of a change that may have been made.
    static let unknownResult = JSONValue.Member("result", .string(AuditEntry.Outcome.unknown.rawValue))
}

extension AuditEntry {
    /// Creates the entry of a request over the APNs protocol that changes channels.
    init(_ request: APNsRequest, _ lane: Lane, from caller: Callers.Caller, peer: String, _ response: APNsResponse) {
        self.init(
            caller: caller.name,
            action: request.method == "DELETE" ? "delete-channel" : "create-channel",
            isDone: (200..<300).contains(response.status)
        )
        app = lane.app
        environment = lane.environment.rawValue
        self.peer = peer
        status = response.status
    }
}
