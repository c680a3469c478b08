import Foundation
import Martlet
import MartletCore
import Testing

@testable import MartletSimulator

/// Laws that are let rest, and that they hold otherwise.
@Suite struct LeniencyTests {
    private func reasons(_ fields: [String: String?], _ leniency: Leniency) throws -> [Reason?] {
        let test = ConformanceTests.Case(testDescription: "", fields: fields)
        return try [[], leniency, .all].map { leniency in
            var bench = try ConformanceTests.Bench(leniency)
            return bench.verdict(on: test).reason
        }
    }

    @Test func `headers are forgiven what some clients write`() throws {
        #expect(try reasons(["apns-push-type": "Alert"], .pushTypeCase) == [.invalidPushType, nil, nil])
        let hurried: [String: String?] = ["apns-push-type": "background", "apns-priority": "10"]
        #expect(try reasons(hurried, .hurriedBackground) == [.badPriority, nil, nil])
    }

    @Test func `every law has a name`() {
        let named = Leniency.names.filter { $0.name != "all" }.reduce(Leniency()) { $0.union($1.leniency) }
        #expect(named == .all)
    }
}
