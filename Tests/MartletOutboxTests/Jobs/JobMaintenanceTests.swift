// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Jobs in checks, repairs, backups and migrations.
@Suite(.timeLimit(.minutes(10))) struct JobMaintenanceTests {
    /// Stores a job with six pushes, of which one is delivered and one is a dead letter.
    private func storeJob(in outbox: any OutboxStore) async throws -> StoredJob {
        let stored = try await outbox.jobs.addNew(.numbered(1))
        let pushes = try (1...6).map { try OutboxPush.numbered($0, priority: "5") }
        _ = try await outbox.jobs.expand(stored, pushes, leftOut: [.noToken: 3], isLast: true)
        let claimed = try await outbox.claim(.orders, .job, limit: 2, at: 20).pushes
        try await outbox.end(claimed[0], at: 30)
        try await outbox.end(claimed[1], .dead, at: 40)
        return try await outbox.jobs.current(stored)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `a check counts the jobs and compares their numbers`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let outbox = try await place.open()
        _ = try await storeJob(in: outbox)
        _ = try await outbox.jobs.addNew(.numbered(2))
        await outbox.close(isInOrder: true)
        let sound = try OutboxCheck.run(on: place.location)
        #expect(sound.isSound && sound.jobs == 2 && sound.waiting == 4, "\(sound)")
        if engine == .sqlite {
            try Connection(path: place.file).execute("UPDATE push SET job = job + 1 WHERE number = 5")
        } else {
            try await place.ask("UPDATE martlet.job_outcome SET count = count + 1 WHERE state = 'dead'")
        }
        #expect(try OutboxCheck.run(on: place.location).problems == ["the counts of 2 jobs differ from their pushes"])
    }

    @Test func `a push of a job in the wrong urgency is counted`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let outbox = try await place.open()
        let stored = try await storeJob(in: outbox)
        await outbox.close(isInOrder: true)
        try Connection(path: place.file).execute("UPDATE push SET urgency = 1 WHERE number = 5")
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.damagedPushes.map(\.parts) == [[.urgency]])
        let damaged = try await place.open()
        let claimed = try await damaged.claimAll(.orders, .powerAware, at: 50)
        #expect(claimed.map(\.push.job) == [stored.number] && claimed.allSatisfy { !$0.isDamaged })
        for push in claimed { try await damaged.end(push, at: 50) }
        #expect(try await damaged.jobs.current(stored).outcomes == [.delivered: 2, .dead: 1])
        await damaged.close(isInOrder: true)
    }

    @Test func `a backup has the jobs`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let outbox = try await place.open()
        let stored = try await storeJob(in: outbox)
        let file = try #require(outbox.localFile)
        let path = try await file.backUp()
        for push in try await outbox.claimAll(.orders, .job, at: 50) { try await outbox.end(push, at: 50) }
        let copy = try await SQLiteOutbox(file: path)
        #expect(try await copy.jobs.current(stored) == stored)
        #expect(try await copy.claimAll(.orders, .job, at: 60).count == 4)
        await copy.close(isInOrder: true)
        await outbox.close(isInOrder: true)
    }

    @Test func `jobs move with their counts, and none twice`() async throws {
        let source = try await OutboxEngine.sqlite.place()
        let file = try await source.open()
        let stored = try await storeJob(in: file)
        await file.close(isInOrder: true)
        let copy = source.file + ".copy"
        try FileManager.default.copyItem(atPath: source.file, toPath: copy)
        let target = try await OutboxEngine.postgresql.place()
        let before = try await target.open()
        // So that the numbers differ.
        _ = try await before.jobs.addNew(.numbered(8))
        _ = try await before.jobs.addNew(.numbered(9))
        try await before.installations.enroll(Installation.numbered(1))
        await before.close(isInOrder: true)
        let account = try await OutboxMove(from: source.file, to: target.address).run(at: 60_000)
        #expect(account.jobs == 1 && account.pushes == 5)

        let outbox = try await target.open()
        let moved = try await outbox.jobs.current(stored)
        var expected = stored
        (expected.number, expected.highMark, expected.cursor) = (moved.number, 0, 0)
        #expect(moved == expected && moved.number > 2 && moved.unfinished == 4)
        let pushes = try await outbox.jobs.pushes(of: moved, in: JobPushState.allCases, after: 0, limit: 9)
        #expect(pushes.map(\.place) == [1, 2, 3, 4, 5, 6])
        #expect(pushes.map(\.status.outcome?.state) == [.delivered, .dead, nil, nil, nil, nil])
        #expect(pushes.allSatisfy { $0.installation == nil }, "the numbers are those of the file")
        let claimed = try await outbox.claim(.orders, .job, limit: 2, at: 60_000).pushes
        #expect(claimed.allSatisfy { $0.push.job == moved.number && !$0.isDamaged })
        for push in claimed { try await outbox.end(push, at: 60_000) }
        // As if the migration had been interrupted before the file was changed.
        #expect(try await OutboxMove(from: copy, to: target.address).run(at: 61_000).jobs == 1)
        #expect(try await outbox.jobs.current(stored).outcomes == [.delivered: 3, .dead: 1])
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 70_000) == 1)
        for push in try await outbox.claimAll(.orders, .job, at: 80_000) { try await outbox.end(push, at: 80_000) }
        #expect(try await outbox.jobs.current(stored).endedAt == 80_000)
        await outbox.close(isInOrder: true)
    }

    @Test func `a reported end of a job is not reported again after a move`() async throws {
        let source = try await OutboxEngine.sqlite.place()
        let file = try await source.open()
        for number in [1, 2] as [UInt64] {
            let job = try await file.jobs.addNew(.numbered(number))
            _ = try await file.jobs.cancel(job.job.id, of: "orders", at: 30)
        }
        let ends = try await file.jobs.recordEnds(limit: 9)
        let first = try #require(ends.first)
        try await file.records.setCursor(try #require(first.endCursor), of: "webhook-jobs orders")
        await file.close(isInOrder: true)
        let target = try await OutboxEngine.postgresql.place()
        #expect(try await OutboxMove(from: source.file, to: target.address).run(at: 60_000).jobs == 2)
        let outbox = try await target.open()
        #expect(try await outbox.jobs.recordEnds(limit: 9).map(\.job.id) == ends.dropFirst().map(\.job.id))
        let reports = try await outbox.jobs.endedJobs(of: "orders", after: 0, limit: 9)
        #expect(reports.map(\.job.id) == ends.dropFirst().map(\.job.id))
        await outbox.close(isInOrder: true)
    }

    @Test func `a file with an expanding job is not moved`() async throws {
        let source = try await OutboxEngine.sqlite.place()
        var file = try await source.open()
        let stored = try await file.jobs.addNew(.numbered(1))
        _ = try await file.jobs.expand(stored, [.numbered(1)])
        await file.close(isInOrder: true)
        let target = try await OutboxEngine.postgresql.place()
        let refused = await #expect(throws: OutboxError.self) {
            try await OutboxMove(from: source.file, to: target.address).run(at: 60_000)
        }
        #expect(refused?.description.contains("the job \(stored.job.id) of the app orders is being expanded") == true)
        #expect(refused?.kind == .refused)
        file = try await source.open()
        _ = try await file.jobs.cancel(stored.job.id, of: "orders", at: 70_000)
        await file.close(isInOrder: true)
        #expect(try await OutboxMove(from: source.file, to: target.address).run(at: 71_000).pushes == 1)
        let outbox = try await target.open()
        #expect(try await outbox.jobs.activeJobs(at: 72_000, limit: 9).map(\.unfinished) == [1])
        await outbox.close(isInOrder: true)
    }

    @Test func `a job is not moved onto another with its identifier`() async throws {
        let source = try await OutboxEngine.sqlite.place()
        let file = try await source.open()
        _ = try await storeJob(in: file)
        await file.close(isInOrder: true)
        let target = try await OutboxEngine.postgresql.place()
        let outbox = try await target.open()
        let other = try await outbox.jobs.addNew(.numbered(1, request: "other"))
        let refused = await #expect(throws: OutboxError.self) {
            try await OutboxMove(from: source.file, to: target.address).run(at: 60_000)
        }
        #expect(refused?.description.contains("the database has another job") == true)
        #expect(try await outbox.jobs.current(other) == other)
        #expect(try await outbox.claimAll(.orders, .job, at: 60_000).isEmpty)
        await outbox.close(isInOrder: true)
    }
}
