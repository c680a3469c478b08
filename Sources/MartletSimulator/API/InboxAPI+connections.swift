// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletServer
internal import MartletTransport

extension InboxAPI {
    /// The route of the open and the recently closed connections.
    static let connectionRoutes: [Route] = [
        Route("GET", "/api/v1/connections", "List the open connections and the last 100 closed ones") { call in
            let (open, closed) = await call.simulator.service.connections
            return .json([
                "open-count": .integer(open.count), "open": .array(open.prefix(connectionLimit).map(\.json)),
                "closed-count": .integer(closed.count), "failed-count": .integer(closed.failedCount),
                "closed": .array(closed.all.reversed().map(\.json)),
            ])
        }
    ]

    private static let connectionLimit = 500
}

extension ConnectionRecord {
    fileprivate var json: JSONValue {
        let answers = answers.sorted { $0.key < $1.key }.map { JSONValue.Member(String($0.key), .integer($0.value)) }
        return .members([
            "id": .integer(id), "port": .string(port.rawValue), "peer": .string(peer),
            "opened": .integer(openedAt / 1_000), "streams-open": .integer(openStreams),
            "streams-most": .integer(mostStreams),
            "streams-refused": .integer(refusedStreams), "streams-reset": .integer(resetStreams),
            "requests": .integer(requests), "requests-malformed": .integer(malformedRequests),
            "answers": .object(answers), "unanswered": .integer(unanswered),
            "handshake-failed": hasFailedHandshake ? true : nil, "failed": hasFailed ? true : nil,
            "tls": security.map { ["version": .string($0.version), "alpn": $0.isHTTP2Agreed ? "h2" : .null] },
            "provider-token": claims.map { claims in
                [
                    "key-id": .string(claims.keyID), "team-id": .string(claims.teamID),
                    "issued-at": .integer(claims.issuedAtSeconds),
                ]
            },
            "certificate": certificate?.json, "goaway-sent": goAwaySent?.json, "goaway-received": goAwayReceived?.json,
            "closed": ending.map { ["time": .integer($0.time / 1_000), "reason": .string($0.reason)] },
        ])
    }
}

extension CertificateFacts {
    fileprivate var json: JSONValue {
        .members([
            "topics": .strings(topics), "development": .bool(isForDevelopment), "production": .bool(isForProduction),
            "expires": expiry.map(JSONValue.integer),
        ])
    }
}

extension HTTP2GoAway {
    fileprivate var json: JSONValue {
        [
            "code": .string(errorCode.description), "last-stream": .integer(lastStreamID),
            "debug-data": .string(String(decoding: debugData.prefix(1_024), as: UTF8.self)),
        ]
    }
}
