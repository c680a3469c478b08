// SPDX-License-Identifier: Apache-2.0

import FuzzDriver
import MartletCore

@testable import MartletSimulator

/// Fuzzes queries and payloads for crashes, hangs, and queries whose description has another meaning.
///
/// The first line is the query, the rest the payload.
@main
struct FuzzQueries: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = try? PushQuery(String(decoding: parts[0], as: UTF8.self)) else { return }
        let again = try? PushQuery(query.description)
        precondition(again == query, "the description is another query")
        let push = push(with: parts.count > 1 ? Array(parts[1]) : [])
        let misses = query.misses(push)
        precondition(query.matches(push) == misses.isEmpty, "a query matches if and only if all its terms match")
        let text = query.description.utf8
        precondition(misses.allSatisfy { text.contains($0.utf8) }, "misses contains only terms of the query")
    }

    private static func push(with payload: [UInt8]) -> ReceivedPush {
        ReceivedPush(
            number: 42,
            time: 1_790_000_000,
            arrival: 1_790_000_000,
            connection: 1,
            deviceToken: "5d3a6a1c8f9a42d6",
            channel: nil,
            app: nil,
            namespace: nil,
            headers: PushHeaders(pushType: "alert", priority: "10", topic: "com.example.app", collapseID: "order-42"),
            payload: payload,
            status: 410,
            reason: .unregistered,
            id: "123e4567-e89b-12d3-a456-4266554400a0",
            fault: "respond"
        )
    }
}
