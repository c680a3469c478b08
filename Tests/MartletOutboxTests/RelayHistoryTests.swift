// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

/// Tests of the stored problems of relays.
@Suite(.timeLimit(.minutes(10))) struct RelayHistoryTests {
    @Test(arguments: OutboxEngine.allCases)
    func `the problems of relays are stored by their names`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        #expect(try await store.records.problems(of: "a") == nil)
        try await store.records.storeProblems(#"[{"reason":"é"}]"#, of: "a", at: 10, deletingBefore: 0)
        try await store.records.storeProblems("[1]", of: "b", at: 20, deletingBefore: 0)
        try await store.records.storeProblems("[2]", of: "b", at: 30, deletingBefore: 10)
        await store.close(isInOrder: false)
        store = try await place.open()
        #expect(try await store.records.problems(of: "a") == #"[{"reason":"é"}]"#)
        #expect(try await store.records.problems(of: "b") == "[2]")
        try await store.records.storeProblems("[3]", of: "b", at: 50, deletingBefore: 40)
        #expect(try await store.records.problems(of: "a") == nil, "they are too old")
        #expect(try await store.records.problems(of: "b") == "[3]", "those of the relay itself are replaced")
        await store.close(isInOrder: true)
    }
}
