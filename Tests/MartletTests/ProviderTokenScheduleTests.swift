import Testing

@testable import Martlet

@Suite struct ProviderTokenScheduleTests {
    private let minute: Int64 = 60

    @Test func `a token is made once and used for fifty minutes`() {
        var schedule = ProviderTokenSchedule()
        #expect(schedule.tokenNeeded(at: 1_000) == .mint(issuedAt: 1_000))
        #expect(schedule.tokenNeeded(at: 1_000) == .use)
        #expect(schedule.secondsUntilRefresh(at: 1_000) == 50 * minute)
        #expect(schedule.tokenNeeded(at: 1_000 + 50 * minute - 1) == .use)
        #expect(schedule.tokenNeeded(at: 1_000 + 50 * minute) == .mint(issuedAt: 1_000 + 50 * minute))
    }

    @Test func `a token that APNs calls expired is replaced`() {
        var schedule = ProviderTokenSchedule()
        _ = schedule.tokenNeeded(at: 0)
        schedule.expired(tokenIssuedAt: 0, at: 30 * minute)
        #expect(schedule.secondsUntilRefresh(at: 30 * minute) == 0)
        #expect(schedule.tokenNeeded(at: 30 * minute) == .mint(issuedAt: 30 * minute))
        #expect(schedule.tokenNeeded(at: 30 * minute) == .use)
    }

    @Test func `word of a token that was replaced already changes nothing`() {
        var schedule = ProviderTokenSchedule()
        _ = schedule.tokenNeeded(at: 0)
        schedule.expired(tokenIssuedAt: 0, at: 10)
        _ = schedule.tokenNeeded(at: 20)
        schedule.expired(tokenIssuedAt: 0, at: 30)
        #expect(schedule.tokenNeeded(at: 30) == .use)
    }

    @Test func `when APNs calls fresh tokens expired, no more than one in twenty minutes is made`() {
        var schedule = ProviderTokenSchedule()
        _ = schedule.tokenNeeded(at: 0)
        schedule.expired(tokenIssuedAt: 0, at: 1)
        #expect(schedule.tokenNeeded(at: 1) == .mint(issuedAt: 1))
        schedule.expired(tokenIssuedAt: 1, at: 2)
        #expect(schedule.tokenNeeded(at: 2) == .use)
        schedule.expired(tokenIssuedAt: 1, at: 20 * minute)
        #expect(schedule.tokenNeeded(at: 20 * minute) == .use)
        schedule.expired(tokenIssuedAt: 1, at: 20 * minute + 1)
        #expect(schedule.tokenNeeded(at: 20 * minute + 1) == .mint(issuedAt: 20 * minute + 1))
    }

    @Test func `a clock that was set back brings a new token`() {
        var schedule = ProviderTokenSchedule()
        _ = schedule.tokenNeeded(at: 10_000)
        #expect(schedule.tokenNeeded(at: 9_000) == .mint(issuedAt: 9_000))
    }

    @Test func `a small step back of the clock keeps the token, as APNs refuses a second one so soon`() {
        var schedule = ProviderTokenSchedule()
        _ = schedule.tokenNeeded(at: 10_000)
        for now in [9_999, 9_940] as [Int64] { #expect(schedule.tokenNeeded(at: now) == .use) }
        #expect(schedule.tokenNeeded(at: 9_939) == .mint(issuedAt: 9_939))
    }
}
