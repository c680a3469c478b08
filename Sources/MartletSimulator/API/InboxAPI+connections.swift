internal import MartletCore
internal import MartletHTTPServer
internal import MartletServer
internal import MartletTransport

extension InboxAPI {
    /// The route of the open and the recently closed connections.
    static let connectionRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/api/v1/connections",
            summary: "List the open connections and the last 100 closed ones"
        ) { call in
            let (open, closed) = await call.simulator.service.connections
            return .json([
                "open-count": .number(JSONNumber(open.count)),
                "open": .array(open.prefix(connectionLimit).map(\.json)), "closed": .array(closed.map(\.json)),
            ])
        }
    ]

    private static let connectionLimit = 500
}

extension ConnectionRecord {
    fileprivate var json: JSONValue {
        let answers = answers.sorted { $0.key < $1.key }.map { JSONValue.Member(String($0.key), number($0.value)) }
        var members: [JSONValue.Member] = [
            .init("id", number(id)), .init("port", .string(port.rawValue)), .init("peer", .string(peer)),
            .init("opened", .number(JSONNumber(openedAt))),
            .init("streams-open", number(openStreams)), .init("streams-most", number(mostStreams)),
            .init("streams-refused", number(refusedStreams)), .init("streams-reset", number(resetStreams)),
            .init("requests", number(requests)), .init("requests-malformed", number(malformedRequests)),
            .init("answers", .object(answers)), .init("unanswered", number(unanswered)),
        ]
        if hasFailedHandshake { members.append(.init("handshake-failed", true)) }
        if let security {
            let alpn: JSONValue = security.isHTTP2Agreed ? "h2" : .null
            members.append(.init("tls", ["version": .string(security.version), "alpn": alpn]))
        }
        if let claims {
            let token: JSONValue = [
                "key-id": .string(claims.keyID), "team-id": .string(claims.teamID),
                "issued-at": .number(JSONNumber(claims.issuedAtSeconds)),
            ]
            members.append(.init("provider-token", token))
        }
        if let certificate { members.append(.init("certificate", certificate.json)) }
        if let goAwaySent { members.append(.init("goaway-sent", goAwaySent.json)) }
        if let goAwayReceived { members.append(.init("goaway-received", goAwayReceived.json)) }
        if let ending {
            let closed: JSONValue = ["time": .number(JSONNumber(ending.time)), "reason": .string(ending.reason)]
            members.append(.init("closed", closed))
        }
        return .object(members)
    }

    private func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
}

extension CertificateFacts {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("topics", .array(topics.map(JSONValue.string))), .init("development", .bool(isForDevelopment)),
            .init("production", .bool(isForProduction)),
        ]
        if let expiry { members.append(.init("expires", .number(JSONNumber(expiry)))) }
        return .object(members)
    }
}

extension HTTP2GoAway {
    fileprivate var json: JSONValue {
        [
            "code": .string(errorCode.description), "last-stream": .number(JSONNumber(Int(lastStreamID))),
            "debug-data": .string(String(decoding: debugData.prefix(1_024), as: UTF8.self)),
        ]
    }
}
