// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The jobs of a sealed outbox.
///
/// A job whose request cannot be opened is marked as damaged.
struct SealedJobs: JobStore {
    let store: any JobStore
    let keeper: SealKeeper

    func add(_ job: Job, at now: Int64) async throws(OutboxError) -> JobAddition {
        let seal = try await keeper.seal()
        let sealed = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(job) }
        switch try await store.add(sealed, at: now) {
        case .added(let stored): return .added(stored.opened(by: seal))
        case .duplicate(let stored): return .duplicate(stored.opened(by: seal))
        case .conflict: return .conflict
        }
    }

    func job(_ id: APNsID, of app: String) async throws(OutboxError) -> StoredJob? {
        let seal = try await keeper.seal()
        return try await store.job(id, of: app)?.opened(by: seal)
    }

    func jobs(of app: String, before number: Int64?, limit: Int) async throws(OutboxError) -> [StoredJob] {
        let seal = try await keeper.seal()
        return try await store.jobs(of: app, before: number, limit: limit).map { $0.opened(by: seal) }
    }

    func activeJobs(at now: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        let seal = try await keeper.seal()
        return try await store.activeJobs(at: now, limit: limit).map { $0.opened(by: seal) }
    }

    func expandingJobCount(of app: String) async throws(OutboxError) -> Int {
        try await store.expandingJobCount(of: app)
    }

    func expand(_ page: JobPage, at now: Int64) async throws(OutboxError) -> JobExpansion {
        try await store.expand(page.replacing(pushes: try await keeper.seal(page.pushes)), at: now)
    }

    func replaceRequest(of job: StoredJob, with request: [UInt8]) async throws(OutboxError) {
        let seal = try await keeper.seal()
        var changed = job.job
        changed.request = request
        let sealed = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(changed) }
        try await store.replaceRequest(of: job, with: sealed.request)
    }

    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> StoredJob? {
        let seal = try await keeper.seal()
        return try await store.cancel(id, of: app, at: now)?.opened(by: seal)
    }

    func cancelPushes(
        of job: StoredJob,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> CancelledPushes {
        try await store.cancelPushes(of: job, before: cursor, limit: limit, at: now)
    }

    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [JobPush] {
        try await store.pushes(of: job, in: states, after: installation, limit: limit)
    }

    func recordEnds(limit: Int) async throws(OutboxError) -> [StoredJob] {
        let seal = try await keeper.seal()
        return try await store.recordEnds(limit: limit).map { $0.opened(by: seal) }
    }

    func endedJobs(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        let seal = try await keeper.seal()
        return try await store.endedJobs(of: app, after: cursor, limit: limit).map { $0.opened(by: seal) }
    }

    func deleteJobs(endedBefore time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await store.deleteJobs(endedBefore: time, limit: limit)
    }
}

extension StoredJob {
    fileprivate func opened(by seal: OutboxSeal) -> StoredJob {
        var opened = self
        if let job = seal.open(job) { opened.job = job } else { opened.isDamaged = true }
        return opened
    }
}
