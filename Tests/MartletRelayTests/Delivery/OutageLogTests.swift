// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct OutageLogTests {
    private let silence = LaneProblem(since: 1, reason: SendResult.noAnswer, nextTry: nil)
    private let outage = LaneOutage(
        since: 1,
        after: .neverSent(reason: "ConnectionFailed", retryAfter: nil),
        at: 1,
        nextTry: 9
    )

    @Test func `the start and the end of silence are logged once`() {
        var log = OutageLog()
        let begun = log.update(silence, nil, isAfterAttempt: false)
        #expect(begun == [.noAnswer(silence)] && log.isSilent)
        let again = log.update(silence, nil, isAfterAttempt: true)
        #expect(again.isEmpty)
        let ended = log.update(nil, nil, isAfterAttempt: true)
        #expect(ended == [.answersAgain] && !log.isSilent)
    }

    @Test func `an outage begins and ends with an attempt`() {
        var log = OutageLog()
        let problem = LaneProblem(since: 1, reason: outage.reason, nextTry: 9)
        let early = log.update(problem, outage, isAfterAttempt: false)
        #expect(early.isEmpty)
        let begun = log.update(problem, outage, isAfterAttempt: true)
        #expect(begun == [.down(outage)] && log.downSince == 1)
        let again = log.update(problem, outage, isAfterAttempt: true)
        #expect(again.isEmpty)
        let ended = log.update(nil, nil, isAfterAttempt: true)
        #expect(ended == [.recovered(since: 1)] && log.downSince == nil)
    }

    @Test func `further pauses of an outage are not logged`() {
        var log = OutageLog()
        _ = log.update(LaneProblem(since: 1, reason: outage.reason, nextTry: 9), outage, isAfterAttempt: true)
        for nextTry: Int64? in [nil, 20, nil, 40] {
            let problem = LaneProblem(since: 1, reason: outage.reason, nextTry: nextTry)
            for isAfterAttempt in [false, true] {
                let changes = log.update(problem, outage, isAfterAttempt: isAfterAttempt)
                #expect(changes.isEmpty && !log.isSilent)
            }
        }
    }

    @Test func `silence that becomes an outage does not end`() {
        var log = OutageLog()
        _ = log.update(silence, nil, isAfterAttempt: false)
        let changes = log.update(
            LaneProblem(since: 1, reason: outage.reason, nextTry: 9),
            outage,
            isAfterAttempt: true
        )
        #expect(changes == [.down(outage)])
    }
}
