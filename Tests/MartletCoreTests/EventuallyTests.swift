// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Tests of the function with which the other tests wait.
@Suite(.timeLimit(.minutes(10))) struct EventuallyTests {
    private struct Failure: Error {}

    @Test(arguments: [1, 3, 10]) func `a wait ends at the check that finds the condition true`(last: Int) async throws {
        var checks = 0
        try await eventually("the last check is made") {
            checks += 1
            return checks == last
        }
        #expect(checks == last)
    }

    @Test(arguments: [(.zero, "0"), (.milliseconds(20), "0.02")] as [(Duration, String)])
    func `a condition that stays false is an error with the words`(limit: Duration, seconds: String) async {
        let error = await #expect(throws: NeverHappened.self) {
            try await eventually("three pushes arrive", within: limit) { false }
        }
        #expect(error?.description == "did not happen within \(seconds) s: three pushes arrive")
    }

    @Test func `a wait ends when its task is cancelled`() async {
        let waiting = Task { try await eventually("the task is cancelled") { false } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `an error of the condition ends the wait`() async {
        await #expect(throws: Failure.self) {
            try await eventually("the condition fails") { throw Failure() }
        }
    }
}
