// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import Testing

@testable import MartletSimulator

/// Relaxed rules, which apply by default.
@Suite struct RelaxedRulesTests {
    private func reasons(_ fields: [String: String?], _ relaxedRules: RelaxedRules) throws -> [APNsReason?] {
        let test = ConformanceTests.Case(testDescription: "", fields: fields)
        return try [[], relaxedRules, .all].map { relaxedRules in
            var bench = try ConformanceTests.Bench(relaxedRules)
            return bench.answer(to: test).reason
        }
    }

    @Test func `relaxed rules accept headers of some clients`() throws {
        #expect(try reasons(["apns-push-type": "Alert"], .pushTypeCase) == [.invalidPushType, nil, nil])
        let urgent: [String: String?] = ["apns-push-type": "background", "apns-priority": "10"]
        #expect(try reasons(urgent, .highPriorityBackground) == [.badPriority, nil, nil])
    }

    @Test func `every relaxed rule has a name`() {
        let named = RelaxedRules.names.filter { $0.name != "all" }.reduce(RelaxedRules()) { $0.union($1.rules) }
        #expect(named == .all)
    }
}
