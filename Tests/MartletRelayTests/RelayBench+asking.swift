// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletTransport
import TestSupport
import Testing

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
        guard case .whole(let response) = await answer(method, path, body, key: key, fields: fields) else {
            return Answer(status: 0, text: "")
        }
        return Answer(status: response.status, text: String(decoding: response.body, as: UTF8.self))
    }

    /// Sends a request that is answered in pieces, without a connection, and returns the pieces.
    func pieces(
        _ method: String,
        _ path: String,
        _ body: String = "",
        key: String = RelayBench.callerKey
    ) async -> [[UInt8]] {
        guard case .pieces(_, let pieces) = await answer(method, path, body, key: key) else {
            Issue.record("\(method) \(path) is not answered in pieces")
            return []
        }
        var all: [[UInt8]] = []
        for await piece in pieces { all.append(piece) }
        return all
    }

    /// Sends a batch of pushes, and returns the answer to each line.
    func batch(_ lines: [String], key: String = RelayBench.callerKey) async -> [JSONValue] {
        let pieces = await pieces("POST", "/v1/pushes:batch", lines.joined(separator: "\n"), key: key)
        let answers = Array(pieces.joined()).split(separator: UInt8(ascii: "\n"))
        return answers.map { (try? JSONReader.read(Array($0))) ?? .null }
    }

    private func answer(
        _ method: String,
        _ path: String,
        _ body: String,
        key: String?,
        fields: HTTPFields = [:]
    ) async -> HTTP1Answer {
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
        return await RelayAPI(parts).answer(request)
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
