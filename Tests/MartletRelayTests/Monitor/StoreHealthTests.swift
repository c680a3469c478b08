import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct StoreHealthTests {
    @Test func `a failure is reported with its start until a success`() {
        var health = StoreHealth()
        let failed = health.note(OutboxError(.full, "no room"), at: 1_000)
        #expect(failed == .failed(problem: "no room", omitted: 0))
        let repeated = health.note(OutboxError(.full, "still none"), at: 1_500)
        #expect(repeated == nil, "one line in a second")
        let later = health.note(OutboxError(.full, "still none"), at: 2_500)
        #expect(later == .failed(problem: "still none", omitted: 1))
        #expect(health.problemSince == 1_000 && health.refusal == nil)
        let recovered = health.note(nil, at: 3_000)
        #expect(recovered == .recovered && health.problem == nil && health.problemSince == nil)
        let success = health.note(nil, at: 4_000)
        #expect(success == nil)
    }

    @Test func `pushes are refused without a write while a database does not answer`() {
        var health = StoreHealth()
        _ = health.note(nil, at: 0)
        _ = health.note(OutboxError(.unreachable, "timed out"), at: 1_000)
        #expect(health.isUnreachable && health.refusal?.kind == .unreachable)
        #expect(health.problem == "the database has not answered since 1970-01-01T00:00:00.000Z: timed out")
        _ = health.note(nil, at: 2_000)
        #expect(!health.isUnreachable && health.refusal == nil)
    }

    @Test func `damage stays a problem although a write succeeds`() {
        var health = StoreHealth()
        _ = health.note(OutboxError(.damaged, "damaged"), at: 0)
        let success = health.note(nil, at: 1)
        #expect(success == nil && health.refusal?.kind == .damaged && health.problem == "damaged")
    }

    @Test func `the outbox is checked after an error, and after ten seconds without a write`() {
        var health = StoreHealth()
        #expect(health.isCheckDue(at: 1_000_000))
        _ = health.note(nil, at: 1_000_000)
        #expect(!health.isCheckDue(at: 1_009_999) && health.isCheckDue(at: 1_010_000))
        #expect(health.isCheckDue(at: 999_999), "a clock that was set back")
        _ = health.note(OutboxError(.full, "no room"), at: 1_010_000)
        #expect(health.isCheckDue(at: 1_010_001))
    }
}
