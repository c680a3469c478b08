// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct IntakeCountsTests {
    @Test func `refused pushes count as shed or as not stored, by caller`() {
        var counts = IntakeCounts()
        counts.refused(2, from: "a", .tooManyIncoming)
        counts.refused(3, from: "a", .outboxIsFull)
        counts.refused(5, from: "b", .storeDoesNotAnswer(since: 0))
        counts.answered(.success([.accepted, .full]), to: 2, from: "b")
        counts.answered(.failure(OutboxError(.unavailable, "gone")), to: 7, from: "a")
        #expect(counts.shed(of: "a") == 5 && counts.shed(of: "b") == 1)
        #expect(counts.notStored(of: "a") == 7 && counts.notStored(of: "b") == 5)
        counts.forgetCallers(except: ["b"])
        #expect(counts.shed == 6 && counts.shed(of: "a") == 0 && counts.shed(of: CallerCounter.other) == 5)
    }
}
