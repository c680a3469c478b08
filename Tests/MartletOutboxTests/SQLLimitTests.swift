// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

/// The limits that a function of the PostgreSQL schema states, which cannot read Swift's tables.
@Suite struct SQLLimitTests {
    @Test func `the function that enqueues applies the payload limits of the push types`() throws {
        let text = try String(contentsOfFile: "Sources/CMartletSQL/postgresql/enqueue.sql", encoding: .utf8)
        let larger = PushType.descriptors.filter { $0.payloadByteLimit != PushLimits.payloadByteCount }
        let limits = Set(larger.map(\.payloadByteLimit) + [PushLimits.broadcastPayloadByteCount])
        #expect(limits.count == 1, "the function distinguishes two limits")
        let condition = larger.map { "push_type = '\($0.type.rawValue)'" } + ["channel IS NOT NULL"]
        let limit = PushLimits.broadcastPayloadByteCount
        let expected =
            "limit_bytes integer := CASE WHEN \(condition.joined(separator: " OR ")) THEN \(limit)"
            + " ELSE \(PushLimits.payloadByteCount) END;"
        #expect(text.contains(expected), "the function must contain: \(expected)")
    }
}
