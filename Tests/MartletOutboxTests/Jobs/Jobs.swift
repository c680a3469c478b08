// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

extension Job {
    /// A job by its number, with default values for other members.
    static func numbered(
        _ number: UInt64,
        app: String = "orders",
        request: String = #"{"to":{"all":true}}"#,
        notBefore: Int64? = nil
    ) -> Job {
        Job(
            app: app,
            id: APNsID(randomBits: (number, 1 << 32)),
            caller: "shop",
            fingerprint: Array(request.utf8.suffix(16)),
            request: Array(request.utf8),
            audience: "tag:vip",
            notBefore: notBefore
        )
    }
}

extension JobStore {
    /// Adds a job that the app does not have.
    func addNew(_ job: Job, at now: Int64 = 10) async throws -> StoredJob {
        let addition = try await add(job, at: now)
        guard case .added(let stored) = addition else { throw UnexpectedAddition(addition: addition) }
        return stored
    }

    /// The job as it is stored now.
    func current(_ stored: StoredJob) async throws -> StoredJob {
        try #require(try await job(stored.job.id, of: stored.job.app))
    }

    /// Stores the next page of a job, whose pushes are for the installations after the cursor unless they have others.
    func expand(
        _ stored: StoredJob,
        _ pushes: [OutboxPush],
        leftOut: [LeftOutReason: Int] = [:],
        isLast: Bool = false,
        at now: Int64 = 10
    ) async throws -> JobExpansion {
        let cursor = try await current(stored).cursor
        let next = cursor + Int64(pushes.count) + 1
        let numbered = pushes.enumerated().map { index, push in
            var push = push
            push.installation = push.installation ?? cursor + Int64(index) + 1
            return push
        }
        let page = JobPage(
            of: stored.number,
            after: cursor,
            through: next,
            isLast: isLast,
            pushes: numbered,
            leftOut: leftOut
        )
        return try await expand(page, at: now)
    }

    /// Cancels the pushes of a job in steps, and returns their identifiers by step.
    func cancelAllPushes(of job: StoredJob, limit: Int, at now: Int64) async throws -> [[APNsID]] {
        var steps: [[APNsID]] = []
        var cursor: Int64?
        repeat {
            let step = try await cancelPushes(of: job, before: cursor, limit: limit, at: now)
            steps.append(step.pushes.map(\.id))
            cursor = step.next
        } while cursor != nil
        return steps
    }
}

private struct UnexpectedAddition: Error {
    let addition: JobAddition
}
