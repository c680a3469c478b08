// SPDX-License-Identifier: Apache-2.0

/// The pushes of some installations of a job's audience, which are stored together with the new cursor of the job.
package struct JobPage: Sendable {
    /// The number of the job.
    package let job: Int64
    /// The cursor of the job when the page was made: the page is stored only while the job still has it.
    package let cursor: Int64
    /// The number of the last installation that the page has read; greater than ``cursor`` unless it is the last page.
    package let nextCursor: Int64
    /// Whether no further page follows.
    package let isLast: Bool
    /// The pushes, one for each installation that is not left out.
    package private(set) var pushes: [HashedPush]
    /// The numbers of installations without a push.
    package let leftOut: [LeftOutReason: Int]

    /// Creates a page, and calculates the hashes of its pushes on the executor of the caller.
    ///
    /// - Parameters:
    ///   - job: The number of the job, which the pushes get as ``OutboxPush/job``.
    ///   - cursor: The cursor of the job.
    ///   - nextCursor: The number of the last installation that was read.
    ///   - isLast: Whether no further page follows.
    ///   - pushes: The pushes, of the app of the job and without identifiers of a caller; with the numbers of their
    ///     installations, and with the users, so that none is stored for a user who was removed meanwhile.
    ///   - leftOut: The numbers of installations without a push.
    package init(
        of job: Int64,
        after cursor: Int64,
        through nextCursor: Int64,
        isLast: Bool,
        pushes: [OutboxPush],
        leftOut: [LeftOutReason: Int] = [:]
    ) {
        self.job = job
        self.cursor = cursor
        self.nextCursor = nextCursor
        self.isLast = isLast
        self.pushes = pushes.map { push in
            var push = push
            push.job = job
            return HashedPush(push)
        }
        self.leftOut = leftOut
    }

    /// Returns the page with another form of its pushes.
    func replacing(pushes: [HashedPush]) -> JobPage {
        var page = self
        page.pushes = pushes
        return page
    }
}

/// The answer of a store to a page of a job.
package enum JobExpansion: Sendable, Hashable {
    /// The page is stored, except for pushes that the store has left out, too; earlier pushes have ended for it.
    case stored(pushes: Int, leftOut: [LeftOutReason: Int], superseded: [PushStatus] = [])
    /// The job is not being expanded any more, or has another cursor: nothing is stored. Read the job again.
    case outdated
    /// The pushes of the page exceed the maximum number of waiting pushes: nothing is stored.
    case full
}
