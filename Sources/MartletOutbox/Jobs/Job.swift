// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A send to many installations of an app, which a relay expands into pushes page by page.
package struct Job: Sendable, Hashable {
    package var app: String
    /// The identifier, a UUID that is unique among the jobs of the app.
    package var id: APNsID
    /// The name of the caller that created it.
    package var caller: String
    /// The hash of the request, which distinguishes a repeated request from another one with the same identifier.
    package var fingerprint: [UInt8]
    /// The JSON from which the pushes are built.
    package var request: [UInt8]
    /// The audience as text, which the store does not interpret.
    package var audience: String
    /// The earliest time of the expansion, in milliseconds since 1970; nil for immediately.
    package var notBefore: Int64?
    /// The time when the pushes expire, in milliseconds since 1970; nil for never.
    package var expiresAt: Int64?

    /// Creates a job, by default without times.
    package init(
        app: String,
        id: APNsID,
        caller: String,
        fingerprint: [UInt8],
        request: [UInt8],
        audience: String,
        notBefore: Int64? = nil,
        expiresAt: Int64? = nil
    ) {
        self.app = app
        self.id = id
        self.caller = caller
        self.fingerprint = fingerprint
        self.request = request
        self.audience = audience
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }
}

/// The states of a job.
package enum JobState: String, Sendable, Hashable, CaseIterable {
    /// Installations are left to be read.
    case expanding
    /// The pushes of all installations have been stored.
    case expanded
    /// The job is expanded no further, and its pushes that have not been sent are to be cancelled.
    case cancelled
}

/// A job with its progress, as it was read.
package struct StoredJob: Sendable, Hashable {
    /// The number, which increases with each job.
    package var number: Int64
    package var job: Job
    /// The time of creation, in milliseconds since 1970.
    package var createdAt: Int64
    /// The greatest ``StoredInstallation/number`` of the app at creation: later installations get no push.
    package var highMark: Int64
    /// The number of the last installation that was read; 0 before the first page.
    package var cursor: Int64
    package var state: JobState
    /// The time when the last page was stored or, before that, the job was cancelled, in milliseconds since 1970; nil
    /// while the job is being expanded.
    package var expandedAt: Int64?
    /// The number of stored pushes.
    package var stored: Int
    /// The numbers of installations without a push.
    package var leftOut: [LeftOutReason: Int]
    /// The numbers of pushes that have ended; a push that is sent again after its end has not.
    package var outcomes: [Outcome.State: Int]
    /// The time when ``outcomes`` changed last, in milliseconds since 1970; 0 before the first change.
    package var outcomesChangedAt: Int64
    /// The position in the order of ends; nil until the end is recorded.
    package var endCursor: Int64?
    /// Whether the request cannot be decrypted, because its row was changed: no further page can be made of it.
    package var isDamaged = false

    /// Creates a job without progress, or with the progress that was read.
    package init(
        number: Int64,
        job: Job,
        createdAt: Int64,
        highMark: Int64,
        cursor: Int64 = 0,
        state: JobState = .expanding,
        expandedAt: Int64? = nil,
        stored: Int = 0,
        leftOut: [LeftOutReason: Int] = [:],
        outcomes: [Outcome.State: Int] = [:],
        outcomesChangedAt: Int64 = 0,
        endCursor: Int64? = nil
    ) {
        self.number = number
        self.job = job
        self.createdAt = createdAt
        self.highMark = highMark
        self.cursor = cursor
        self.state = state
        self.expandedAt = expandedAt
        self.stored = stored
        self.leftOut = leftOut
        self.outcomes = outcomes
        self.outcomesChangedAt = outcomesChangedAt
        self.endCursor = endCursor
    }

    /// The number of installations of the audience that have been read.
    package var matched: Int { leftOut.values.reduce(stored, &+) }

    /// The number of stored pushes that have not ended.
    package var unfinished: Int { outcomes.values.reduce(stored, &-) }

    /// The time when the job ended, in milliseconds since 1970; nil while it is being expanded or a push has not ended.
    package var endedAt: Int64? {
        guard let expandedAt, unfinished <= 0 else { return nil }
        return max(expandedAt, outcomesChangedAt)
    }
}

/// The answer of a store to a new job.
package enum JobAddition: Sendable, Hashable {
    case added(StoredJob)
    /// The same request has created the job before.
    case duplicate(StoredJob)
    /// Another job of the app has the identifier.
    case conflict
}

/// The pushes of a job that one step has cancelled.
package struct CancelledPushes: Sendable, Hashable {
    package var pushes: [PushStatus] = []
    /// The cursor of the next step; nil after the last one.
    package var next: Int64?

    /// Creates the result of a last step that has cancelled nothing.
    package init() {}
}
