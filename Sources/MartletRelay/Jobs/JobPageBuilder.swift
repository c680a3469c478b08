// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// A builder of the next page of a job: the pushes of some installations, and the numbers of those that get none.
struct JobPageBuilder {
    /// The reasons why a page cannot be built.
    enum Failure: Error {
        /// The outbox cannot be read.
        case outbox(OutboxError)
        /// This version of the relay cannot send the request, which another one has accepted.
        case request(APIProblem)
    }

    /// The maximum number of pushes in a page, and of installations that are examined at once, so that other calls to
    /// the outbox need not wait for long.
    static let size = 200
    /// The maximum number of reads for a page of which few installations match.
    private static let readLimit = 10

    private let job: StoredJob
    /// The installations that are read next.
    private var scan: AudienceScan
    /// The app in the current configuration; nil when it was removed.
    private let app: RelayConfiguration.App?
    private let renderers: [Lane: SnapshotRenderer]
    /// The maximum number of pushes.
    private let limit: Int
    private var requests: PersonalRequests
    private var zones = ZoneLookup()
    private let need: PushNeed
    private var builder: PushRequestBuilder
    private var pushes: [OutboxPush] = []
    private var leftOut: [LeftOutReason: Int] = [:]
    /// The number of installations that were added.
    private var count = 0
    /// Whether all installations of the job have been added.
    private var isComplete = false

    /// Returns the next page of a job, which is built outside of the event loop.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - store: The installations.
    ///   - apps: The apps in the current configuration.
    ///   - renderers: The renderers of the lanes.
    ///   - limit: The maximum number of pushes.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The page; for a damaged job an empty one, which is the last.
    /// - Throws: ``Failure`` when the outbox cannot be read, or the request cannot be sent by this version.
    @concurrent
    static func page(
        of job: StoredJob,
        from store: any InstallationStore,
        apps: [RelayConfiguration.App],
        renderers: [Lane: SnapshotRenderer],
        limit: Int = size,
        at now: Int64
    ) async throws(Failure) -> JobPage {
        // Without its request the job has no further page; the pushes of the others are sent.
        guard !job.isDamaged else {
            return JobPage(of: job.number, after: job.cursor, through: job.cursor, isLast: true, pushes: [])
        }
        var builder: JobPageBuilder
        do throws(APIProblem) {
            builder = try JobPageBuilder(job, apps, renderers, limit: limit, at: now)
        } catch {
            throw Failure.request(error)
        }
        try await builder.read(from: store)
        return builder.page
    }

    /// Reads the request of a job.
    init(
        _ job: StoredJob,
        _ apps: [RelayConfiguration.App],
        _ renderers: [Lane: SnapshotRenderer],
        limit: Int = size,
        at now: Int64
    ) throws(APIProblem) {
        let request = try PushRequest(try BatchLines.json(of: job.job.request))
        guard let requested = request.audience, case .matching(let expression) = requested.target else {
            throw APIProblem(400, "the request of the job has no audience of a job", at: "/to")
        }
        self.job = job
        requests = PersonalRequests(request)
        self.renderers = renderers
        self.limit = limit
        app = apps.first { $0.name == job.job.app }
        need = try requested.need(of: request)
        scan = AudienceScan(expression, of: job.job.app, need.slot, after: job.cursor, through: job.highMark)
        builder = PushRequestBuilder(
            caller: Callers.Caller(name: job.job.caller, apps: [job.job.app], scopes: [.send]),
            apps: apps,
            clients: LaneClients(),
            idempotencyKey: nil,
            traceParent: nil,
            now: now,
            generator: SplitMix64(state: 0)
        )
    }

    /// Adds installations of a store until the page is full or complete, or few of many match.
    private mutating func read(from store: any InstallationStore) async throws(Failure) {
        for _ in 0..<JobPageBuilder.readLimit where !isComplete && count < limit {
            let found: AudiencePage
            do throws(OutboxError) {
                found = try await store.audiencePage(of: scan, limit: limit - count)
            } catch {
                throw Failure.outbox(error)
            }
            do throws(APIProblem) {
                try add(found)
            } catch {
                throw Failure.request(error)
            }
        }
    }

    /// Adds the installations of a page of the scan.
    ///
    /// The error is that the push of one of them breaks a rule, or that Apple would refuse it.
    mutating func add(_ page: AudiencePage) throws(APIProblem) {
        for member in page.members {
            let lane = Lane(app: job.job.app, environment: member.environment)
            let reason: LeftOutReason? =
                if let app { need.leftOutReason(of: member, in: app) } else { .notConfigured }
            guard reason == nil, let renderer = renderers[lane], let token = member.token else {
                leftOut[reason ?? .notConfigured, default: 0] += 1
                continue
            }
            guard let own = requests.request(for: member)?.scheduled(for: member, &zones) else {
                leftOut[.noValues, default: 0] += 1
                continue
            }
            var push = try push(of: own, to: token, of: member, lane, renderer)
            push.count(towards: app?.alertsPerDay.map { AlertLimit(perDay: $0, request: job.job.id) })
            if let reason = push.wait(for: app?.quietHours, in: member.timeZone, &zones, at: builder.now) {
                leftOut[reason, default: 0] += 1
                continue
            }
            pushes.append(push)
        }
        count += page.members.count
        if let next = page.next { scan.cursor = next } else { isComplete = true }
    }

    private mutating func push(
        of own: PushRequest,
        to token: DeviceToken,
        of member: AudienceMember,
        _ lane: Lane,
        _ renderer: SnapshotRenderer
    ) throws(APIProblem) -> OutboxPush {
        guard let id = JobPageBuilder.id(of: member.installation, in: job.job) else {
            throw APIProblem(503, "the relay cannot hash the identifier of a push")
        }
        // Not the time of this page, so that no push replaces what was sent to its Live Activity since.
        builder.timeOfJob = max(job.createdAt, own.notBefore ?? job.job.notBefore ?? job.createdAt)
        var push = try builder.push(of: own, nil, to: .device(token), lane, member.bundleID, id, renderer)
        push.hasCallersID = false
        push.user = member.user
        push.installation = member.number
        if let end = job.job.expiresAt { push.expiresAt = end }
        return push
    }

    /// Returns the identifier of the push of a job to an installation; nil when OpenSSL fails.
    ///
    /// No other push has it: an `Idempotency-Key` has no line break, and only a number follows it in a batch.
    static func id(of installation: InstallationID, in job: Job) -> APNsID? {
        APNsID(app: job.app, idempotencyKey: "job\n\(job.id)", installation.description)
    }

    /// The page with the installations that were added.
    var page: JobPage {
        JobPage(
            of: job.number,
            after: job.cursor,
            through: isComplete ? max(job.highMark, scan.cursor) : scan.cursor,
            isLast: isComplete,
            pushes: pushes,
            leftOut: leftOut
        )
    }
}
