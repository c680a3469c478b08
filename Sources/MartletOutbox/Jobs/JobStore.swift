// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The jobs of apps, with the counts of their pushes.
///
/// A store guarantees:
///
/// - A page is stored once: all of it in one transaction with the new cursor of its job, and only while the job is
///   being expanded and has the old one. Therefore several relays can expand a job, also after a crash.
/// - A push that ends is counted in the transaction in which it ends, whatever ends it. A dead letter that is queued
///   again is not counted as dead any more; one that is deleted stays counted.
/// - ``StoredJob/unfinished`` is the number of the job's pushes that have not ended.
/// - The end of a job is recorded once, also if a dead letter is queued again later. A job gets a greater
///   ``StoredJob/endCursor`` than all that have been read.
///
/// Times are milliseconds since 1970. Methods can be called concurrently. Texts may not contain control characters.
package protocol JobStore: Sendable {
    /// Stores a job, unless the app has one with its identifier.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - now: The time.
    /// - Returns: The stored job, or that another one has the identifier.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func add(_ job: Job, at now: Int64) async throws(OutboxError) -> JobAddition

    /// Returns the job with an identifier; nil for an unknown one.
    func job(_ id: APNsID, of app: String) async throws(OutboxError) -> StoredJob?

    /// Returns the jobs of an app, newest first.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - number: Only jobs before this ``StoredJob/number``; nil for all.
    ///   - limit: The maximum number of jobs.
    /// - Returns: The jobs.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func jobs(of app: String, before number: Int64?, limit: Int) async throws(OutboxError) -> [StoredJob]

    /// Returns the jobs of all apps that need work: those that are due and being expanded, and the cancelled ones with
    /// pushes that have not ended.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - limit: The maximum number of jobs.
    /// - Returns: The jobs, oldest first.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func activeJobs(at now: Int64, limit: Int) async throws(OutboxError) -> [StoredJob]

    /// Returns the number of jobs of an app that are being expanded, including those that are not due.
    func expandingJobCount(of app: String) async throws(OutboxError) -> Int

    /// Stores a page of a job.
    ///
    /// Its pushes are checked as in ``OutboxStore/accept(_:at:)``.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - now: The time.
    /// - Returns: Whether it is stored, with the pushes that are not.
    /// - Throws: ``OutboxError``; if it is of kind `.unreachable`, the page may be stored, which the cursor of the job
    ///   shows. Otherwise nothing has changed.
    func expand(_ page: JobPage, at now: Int64) async throws(OutboxError) -> JobExpansion

    /// Replaces the request of a job, whose fingerprint stays, so that a repeated request creates no other job.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - request: The new request.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func replaceRequest(of job: StoredJob, with request: [UInt8]) async throws(OutboxError)

    /// Cancels a job that has not ended, so that it is expanded no further.
    ///
    /// Its stored pushes stay: ``cancelPushes(of:before:limit:at:)`` cancels them.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - app: The app.
    ///   - now: The time.
    /// - Returns: The job afterwards; nil for an unknown one.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> StoredJob?

    /// Cancels unclaimed pushes of a job, including those behind others, in the reverse order of their installations.
    ///
    /// A claimed push stays, and may wait again after a failed attempt. Repeat the steps until the job has no
    /// ``StoredJob/unfinished`` pushes.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - cursor: ``CancelledPushes/next`` of the previous step; nil in the first step.
    ///   - limit: The maximum number of rows that are read, so that other calls need not wait for long.
    ///   - now: The time.
    /// - Returns: The cancelled pushes.
    /// - Throws: ``OutboxError``; the step can be repeated then.
    func cancelPushes(
        of job: StoredJob,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> CancelledPushes

    /// Returns pushes of a job, in the order of the enrollment of their installations.
    ///
    /// A push whose outcome or dead letter was deleted is left out.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - states: The states of the pushes; at least one.
    ///   - installation: Only pushes after this ``JobPush/place``; 0 for all.
    ///   - limit: The maximum number of pushes.
    /// - Returns: The pushes.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [JobPush]

    /// Records the ends of jobs, which gives each a ``StoredJob/endCursor``.
    ///
    /// - Parameter limit: The maximum number of jobs.
    /// - Returns: The jobs whose ends no call has recorded before. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; if it is of kind `.unreachable`, ends may be recorded.
    func recordEnds(limit: Int) async throws(OutboxError) -> [StoredJob]

    /// Returns the jobs of an app whose ends are recorded, in the order of their ends.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - cursor: Only jobs after this ``StoredJob/endCursor``; 0 for all.
    ///   - limit: The maximum number of jobs.
    /// - Returns: The jobs.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func endedJobs(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError) -> [StoredJob]

    /// Deletes jobs whose ``StoredJob/endedAt`` is before a time; their dead letters stay.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - limit: The maximum number of jobs, so that other calls need not wait for long.
    /// - Returns: The number of deleted jobs. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func deleteJobs(endedBefore time: Int64, limit: Int) async throws(OutboxError) -> Int
}
