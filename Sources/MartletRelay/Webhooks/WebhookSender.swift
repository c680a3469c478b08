// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that reports unregistered tokens and ended jobs to the webhooks of apps.
///
/// It is not part of the ``RelayMonitor``, because it has effects on others: it calls servers, and stores what they
/// have received.
actor WebhookSender {
    /// The number of reports to a webhook, by whether it accepted them, and the last failure.
    struct Counts: Sendable, Hashable {
        var succeeded = 0
        var failed = 0
        /// The failure of the last report; nil when it was accepted, or nothing is left to report.
        var problem: LastingProblem?
    }

    /// A report with its entries, and the position of its reader once the webhook has accepted it.
    private struct NextReport {
        var report: WebhookReport
        var count: Int
        var reader: String
        var cursor: Int64
    }

    /// The maximum number of tokens in one report.
    private static let tokenLimit = 100
    /// The maximum number of jobs in one report; small, because they are read with their requests.
    private static let jobLimit = 20

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var context: RelayContext
    private var schedules: [String: WebhookSchedule] = [:]
    /// The limits for log lines about failures, by the name of the app.
    private var throttles: [String: LogThrottle] = [:]
    /// The numbers of reports, by the name of the app.
    private(set) var counts: [String: Counts] = [:]

    init(_ context: RelayContext) {
        loop = context.loop
        self.context = context
    }

    func use(_ context: RelayContext) {
        self.context = context
    }

    /// Calls the webhooks that are due, where there is something to report.
    func callDue() {
        for app in context.configuration.apps {
            guard let webhook = app.webhook,
                schedules[app.name, default: WebhookSchedule()].mayCall(at: context.now)
            else { continue }
            Task { await report(to: webhook, of: app.name) }
        }
    }

    private func report(to webhook: Webhook, of app: String) async {
        var isDone = true
        do throws(OutboxError) {
            let tokens = try await tokenReport(of: app)
            let jobs = try await jobReport(of: app)
            if tokens == nil, jobs == nil { counts[app]?.problem = nil }
            for next in [tokens, jobs].compactMap(\.self) where isDone {
                isDone = await send(next, to: webhook, of: app)
                if isDone { try await context.outbox.records.setCursor(next.cursor, of: next.reader) }
            }
        } catch {
            isDone = false
        }
        schedules[app]?.ended(succeeded: isDone, at: context.now)
    }

    /// Returns the next report of an app's unregistered tokens; nil when there are none.
    private func tokenReport(of app: String) async throws(OutboxError) -> NextReport? {
        let reader = "webhook " + app
        let cursor = try await context.outbox.records.cursor(of: reader)
        let tokens = try await context.outbox.records.unregisteredTokens(
            of: app,
            after: cursor,
            limit: WebhookSender.tokenLimit
        )
        guard let last = tokens.last else { return nil }
        let report = WebhookReport(tokens, of: app, at: context.now)
        return NextReport(report: report, count: tokens.count, reader: reader, cursor: last.cursor)
    }

    /// Returns the next report of an app's ended jobs; nil when there are none.
    private func jobReport(of app: String) async throws(OutboxError) -> NextReport? {
        let reader = "webhook-jobs " + app
        let cursor = try await context.outbox.records.cursor(of: reader)
        let jobs = try await context.outbox.jobs.endedJobs(of: app, after: cursor, limit: WebhookSender.jobLimit)
        guard let last = jobs.last?.endCursor else { return nil }
        let report = WebhookReport(jobs, of: app, at: context.now)
        return NextReport(report: report, count: jobs.count, reader: reader, cursor: last)
    }

    /// Sends a report, and counts and logs a failure; returns whether the webhook has accepted the report.
    private func send(_ next: NextReport, to webhook: Webhook, of app: String) async -> Bool {
        do throws(RelayError) {
            try await next.report.send(to: webhook, through: context.configuration.proxies, on: loop)
            counts[app, default: Counts()].succeeded += 1
            counts[app]?.problem = nil
            return true
        } catch {
            var count = counts[app, default: Counts()]
            count.failed += 1
            count.problem = LastingProblem(after: count.problem, "\(webhook.url): \(error)", at: context.now)
            counts[app] = count
            guard let omitted = throttles[app, default: LogThrottle()].take(at: context.now) else { return false }
            context.log.warning(
                .webhookFailed,
                omitted: omitted,
                [
                    "app": .string(app), "url": .string(webhook.url), "error": .string("\(error)"),
                    "since": count.problem.map { .string(Timestamp.text($0.since)) }, "waiting": .whole(next.count),
                ]
            )
            return false
        }
    }
}
