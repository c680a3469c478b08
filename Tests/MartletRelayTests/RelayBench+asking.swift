// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletTransport
import TestSupport

@testable import MartletRelay

extension RelayBench {
    /// An answer of the interface in JSON.
    struct Answer {
        var status: Int
        var text: String
        var json: JSONValue { (try? JSONReader.read(Array(text.utf8))) ?? .null }
    }

    /// Asks the interface in JSON, without a connection.
    func ask(
        _ method: String,
        _ path: String,
        _ body: String = "",
        key: String? = RelayBench.callerKey,
        fields: HTTPFields = [:]
    ) async -> Answer {
        var all: HTTPFields = key.map { ["authorization": "Bearer " + $0] } ?? [:]
        all.append(contentsOf: fields)
        let request = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "localhost",
            target: path,
            fields: all,
            body: Array(body.utf8)
        )
        guard case .whole(let response) = await RelayAPI(parts).answer(request) else {
            return Answer(status: 0, text: "")
        }
        return Answer(status: response.status, text: String(decoding: response.body, as: UTF8.self))
    }

    /// Hands in an alert and waits for its end.
    func push(to token: String = "5d3a6a1c", _ more: String = "") async -> Answer {
        await ask("POST", "/v1/pushes?wait=60", #"{"to":"\#(token)","payload":{"aps":{"alert":"Secret"}}\#(more)}"#)
    }
}

/// Waits until a part of a relay is in a state.
///
/// - Parameters:
///   - expected: The state, in words, for the error.
///   - part: The part.
///   - isReached: Returns whether the part is in the state.
/// - Throws: ``NeverHappened`` after five minutes, and `CancellationError`.
func eventually<Part: Actor>(
    _ expected: String,
    in part: Part,
    _ isReached: @Sendable (isolated Part) -> Bool
) async throws {
    try await eventually(expected) { await isReached(part) }
}

extension RelayConfiguration.Caller {
    /// A caller with a key, whose name is the key without its prefix.
    init(key: String, apps: Set<String>, scopes: Set<Scope>) throws {
        let name = String(key.trimmingPrefix("mrt_"))
        self.init(name: name, hash: try RelayBench.hash(key), apps: apps, scopes: scopes)
    }
}
