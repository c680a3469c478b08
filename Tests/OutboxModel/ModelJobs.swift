// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import Synchronization

/// A model of the jobs, which each engine has to agree with.
struct JobModel: Sendable {
    private var jobs: [StoredJob] = []
    private var lastNumber: Int64 = 0
    private var lastEnd: Int64 = 0

    mutating func add(_ job: Job, highMark: Int64, at now: Int64) -> JobAddition {
        if let stored = self.job(job.id, of: job.app) {
            return stored.job.fingerprint == job.fingerprint ? .duplicate(stored) : .conflict
        }
        lastNumber += 1
        let stored = StoredJob(number: lastNumber, job: job, createdAt: now, highMark: highMark)
        jobs.append(stored)
        return .added(stored)
    }

    func job(_ id: APNsID, of app: String) -> StoredJob? { jobs.first { $0.job.id == id && $0.job.app == app } }

    func jobs(of app: String, before number: Int64?, limit: Int) -> [StoredJob] {
        Array(jobs.reversed().filter { $0.job.app == app && $0.number < number ?? .max }.prefix(limit))
    }

    func activeJobs(at now: Int64, limit: Int) -> [StoredJob] {
        let active = jobs.filter { stored in
            switch stored.state {
            case .expanding: stored.job.notBefore ?? 0 <= now
            case .expanded: false
            case .cancelled: stored.unfinished > 0
            }
        }
        return Array(active.prefix(limit))
    }

    func expandingJobCount(of app: String) -> Int { jobs.count { $0.job.app == app && $0.state == .expanding } }

    /// Whether a job is being expanded and has a cursor.
    func isExpanding(_ number: Int64, at cursor: Int64) -> Bool {
        jobs.contains { $0.number == number && $0.cursor == cursor && $0.state == .expanding }
    }

    mutating func record(_ page: JobPage, stored: Int, refused: [LeftOutReason: Int], at now: Int64) {
        guard let index = jobs.firstIndex(where: { $0.number == page.job }) else { return }
        jobs[index].cursor = page.nextCursor
        jobs[index].stored += stored
        jobs[index].leftOut.merge(page.leftOut, uniquingKeysWith: +)
        jobs[index].leftOut.merge(refused, uniquingKeysWith: +)
        guard page.isLast else { return }
        jobs[index].state = .expanded
        jobs[index].expandedAt = now
    }

    mutating func replaceRequest(of job: StoredJob, with request: [UInt8]) {
        guard let index = jobs.firstIndex(where: { $0.number == job.number }) else { return }
        jobs[index].job.request = request
    }

    mutating func cancel(_ id: APNsID, of app: String, at now: Int64) -> StoredJob? {
        guard let index = jobs.firstIndex(where: { $0.job.id == id && $0.job.app == app }) else { return nil }
        if jobs[index].endedAt == nil {
            jobs[index].state = .cancelled
            jobs[index].expandedAt = jobs[index].expandedAt ?? now
        }
        return jobs[index]
    }

    /// Adds to the outcomes of a job; nothing for a deleted one.
    mutating func count(_ change: Int, _ state: Outcome.State, of number: Int64, at now: Int64) {
        guard let index = jobs.firstIndex(where: { $0.number == number }) else { return }
        let count = (jobs[index].outcomes[state] ?? 0) + change
        jobs[index].outcomes[state] = count == 0 ? nil : count
        jobs[index].outcomesChangedAt = max(jobs[index].outcomesChangedAt, now)
    }

    mutating func recordEnds(limit: Int) -> [StoredJob] {
        let ended = jobs.indices.filter { jobs[$0].endedAt != nil && jobs[$0].endCursor == nil }.prefix(limit)
        for index in ended {
            lastEnd += 1
            jobs[index].endCursor = lastEnd
        }
        return ended.map { jobs[$0] }
    }

    func endedJobs(of app: String, after cursor: Int64, limit: Int) -> [StoredJob] {
        let ended = jobs.filter { $0.job.app == app && $0.endCursor ?? 0 > cursor }
        return Array(ended.sorted { $0.endCursor ?? 0 < $1.endCursor ?? 0 }.prefix(limit))
    }

    mutating func deleteJobs(endedBefore time: Int64, limit: Int) -> Int {
        let old = Set(jobs.filter { $0.endedAt.map { $0 < time } ?? false }.map(\.number).prefix(limit))
        jobs.removeAll { old.contains($0.number) }
        return old.count
    }
}

extension OutboxModel {
    mutating func expand(_ page: JobPage, at now: Int64) -> JobExpansion {
        guard page.pushes.count <= limit - rows.count else { return .full }
        guard jobs.isExpanding(page.job, at: page.cursor) else { return .outdated }
        var refused: [LeftOutReason: Int] = [:]
        var superseded: [PushStatus] = []
        for answer in accept(page.pushes.map(\.push), at: now) {
            if let reason = answer.leftOutReason { refused[reason, default: 0] += 1 }
            superseded += answer.superseded
        }
        let stored = refused.values.reduce(page.pushes.count, -)
        jobs.record(page, stored: stored, refused: refused, at: now)
        return .stored(pushes: stored, leftOut: refused, superseded: superseded)
    }

    mutating func cancelPushes(of job: StoredJob, before cursor: Int64?, limit: Int, at now: Int64) -> CancelledPushes {
        let stored = pushes(of: job, in: [.waiting, .ended(.dead)])
        let step = stored.filter { $0.installation ?? 0 < cursor ?? .max }.suffix(limit).reversed()
        var cancelled = CancelledPushes()
        if step.count == limit { cancelled.next = step.last?.installation }
        for push in step {
            let name = Name(app: push.lane.app, id: push.id)
            guard let number = numbers[name], claimed[number] == nil else { continue }
            end(number, Outcome(.cancelled), at: now)
            if let status = status(of: push.id, of: push.lane.app) { cancelled.pushes.append(status) }
        }
        return cancelled
    }

    func pushes(of job: StoredJob, in states: [JobPushState], after place: Int64, limit: Int) -> [JobPush] {
        let page = pushes(of: job, in: states).filter { $0.installation ?? 0 > place }.prefix(limit)
        return page.compactMap { push in
            guard let number = push.installation, let status = known(push.id, of: push.lane.app) else { return nil }
            let found = number <= job.highMark ? installations.installation(numbered: number) : nil
            let installation = found?.app == push.lane.app ? found : nil
            return JobPush(place: number, status: status, installation: installation?.id, user: installation?.user)
        }
    }

    /// The pushes of a job in some states, in the order of their installations.
    private func pushes(of job: StoredJob, in states: [JobPushState]) -> [OutboxPush] {
        let waiting = states.contains(.waiting) ? rows.values.map(\.push) : []
        let ended = ends.values.filter { states.contains(.ended($0.outcome.state)) }.map(\.push)
        return (waiting + ended).filter { $0.job == job.number }
            .sorted { $0.installation ?? 0 < $1.installation ?? 0 }
    }
}

/// The jobs of a model.
struct ModelJobs: JobStore {
    let disk: ModelOutbox.Disk

    func add(_ job: Job, at now: Int64) -> JobAddition {
        disk.model.withLock { $0.jobs.add(job, highMark: $0.installations.highMark(of: job.app), at: now) }
    }

    func job(_ id: APNsID, of app: String) -> StoredJob? { disk.model.withLock { $0.jobs.job(id, of: app) } }

    func jobs(of app: String, before number: Int64?, limit: Int) -> [StoredJob] {
        disk.model.withLock { $0.jobs.jobs(of: app, before: number, limit: limit) }
    }

    func activeJobs(at now: Int64, limit: Int) -> [StoredJob] {
        disk.model.withLock { $0.jobs.activeJobs(at: now, limit: limit) }
    }

    func expandingJobCount(of app: String) -> Int { disk.model.withLock { $0.jobs.expandingJobCount(of: app) } }

    func expand(_ page: JobPage, at now: Int64) -> JobExpansion { disk.model.withLock { $0.expand(page, at: now) } }

    func replaceRequest(of job: StoredJob, with request: [UInt8]) {
        disk.model.withLock { $0.jobs.replaceRequest(of: job, with: request) }
    }

    func cancel(_ id: APNsID, of app: String, at now: Int64) -> StoredJob? {
        disk.model.withLock { $0.jobs.cancel(id, of: app, at: now) }
    }

    func cancelPushes(of job: StoredJob, before cursor: Int64?, limit: Int, at now: Int64) -> CancelledPushes {
        disk.model.withLock { $0.cancelPushes(of: job, before: cursor, limit: limit, at: now) }
    }

    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int
    ) -> [JobPush] {
        disk.model.withLock { $0.pushes(of: job, in: states, after: installation, limit: limit) }
    }

    func recordEnds(limit: Int) -> [StoredJob] { disk.model.withLock { $0.jobs.recordEnds(limit: limit) } }

    func endedJobs(of app: String, after cursor: Int64, limit: Int) -> [StoredJob] {
        disk.model.withLock { $0.jobs.endedJobs(of: app, after: cursor, limit: limit) }
    }

    func deleteJobs(endedBefore time: Int64, limit: Int) -> Int {
        disk.model.withLock { $0.jobs.deleteJobs(endedBefore: time, limit: limit) }
    }
}
