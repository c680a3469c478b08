// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let jobID = RouteParameter(
        .path,
        name: "id",
        summary: "The identifier of the job",
        schema: .schema("PushID")
    )
    private static let before = RouteParameter(
        name: "before",
        summary: "Only jobs before this cursor; all by default",
        schema: ["type": "integer", "minimum": 1, "maximum": .number(JSONNumber(Int.max))]
    )

    private static let state = RouteParameter(
        name: "state",
        summary: "Only pushes in this state, as the job counts them; all by default",
        schema: ["enum": .strings(JobPushState.allCases.map(\.name))]
    )

    /// The routes that show and cancel jobs; a push to an audience of any size creates one.
    static let jobRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/apps/{app}/jobs",
            summary: "Jobs with their progress, newest first",
            access: .scope("read", audit: nil),
            parameters: [before, limit],
            answers: [RouteAnswer(200, "The jobs", .schema("Jobs"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let before = Int64(try call.number("before", 1 ... .max, default: .max))
            let limit = try call.number("limit", 1...1_000, default: 100)
            let jobs = call.parts.outbox.jobs
            let found = try await call.parts.read(await jobs.jobs(of: app, before: before, limit: limit))
            let cursor = found.count == limit ? found.last?.number : nil
            return .json(.members(["jobs": .array(found.map(\.json)), "cursor": .whole(cursor)]))
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/jobs/{id}",
            summary: "The progress of a job",
            access: .scope("read", audit: nil),
            parameters: [jobID],
            answers: [RouteAnswer(200, "The job", .schema("Job"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let (app, id) = (try call.app(), try call.pushID(of: "job"))
            let job = try await call.parts.read(await call.parts.outbox.jobs.job(id, of: app))
            guard let job else { throw APIProblem(unknownJob: id) }
            return .json(job.json)
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/jobs/{id}/pushes",
            summary: "The pushes of a job with their installations, until their outcomes are deleted",
            access: .scope("read", audit: nil),
            parameters: [jobID, state, after("pushes"), limit],
            answers: [
                RouteAnswer(200, "The pushes, in the order in which the phones have enrolled", .schema("JobPushes"))
            ],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let (app, id) = (try call.app(), try call.pushID(of: "job"))
            let states = try JobPushState.named(call.text("state"))
            let after = Int64(try call.number("after", 0 ... .max, default: 0))
            let limit = try call.number("limit", 1...1_000, default: 100)
            let jobs = call.parts.outbox.jobs
            let job = try await call.parts.read(await jobs.job(id, of: app))
            guard let job else { throw APIProblem(unknownJob: id) }
            // The search for those that wait reads all dead letters of the job.
            let possible = states.filter { $0 != .waiting || job.unfinished > 0 }
            let found =
                possible.isEmpty
                ? [] : try await call.parts.read(await jobs.pushes(of: job, in: possible, after: after, limit: limit))
            let showsUsers = call.caller.scopes.contains(.installations)
            return .json([
                "pushes": .array(found.map { $0.json(showsUser: showsUsers) }),
                "cursor": .whole(found.last?.place ?? after),
            ])
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/jobs/{id}",
            summary: "Cancels a job, and its pushes that have not been sent",
            access: .scope("send", audit: "cancel-job"),
            parameters: [jobID],
            answers: [
                RouteAnswer(200, "The job is cancelled, by this request or an earlier one", .schema("Job")),
                RouteAnswer(409, "The job has ended without being cancelled: its progress", .schema("Job")),
            ],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let (app, id) = (try call.app(), try call.pushID(of: "job"))
            let job = try await outboxCall(await call.parts.jobs.cancel(id, of: app))
            guard let job else { throw APIProblem(unknownJob: id) }
            return .json(job.json, status: job.state == .cancelled ? 200 : 409)
        },
    ]
}

extension APIProblem {
    fileprivate init(unknownJob id: APNsID) {
        self.init(404, "job \(id) does not exist, or was deleted some time after its end")
    }
}

extension JobPushState {
    /// Returns the states that the parameter `state` names; all without it.
    fileprivate static func named(_ text: String?) throws(APIProblem) -> [JobPushState] {
        guard let text else { return allCases }
        guard let state = allCases.first(where: { $0.name == text }) else {
            let known = allCases.map(\.name).joined(separator: ", ")
            throw APIProblem(400, "state must be one of \(known) (found \(ShownValue.quoted(text)))")
        }
        return [state]
    }
}

extension RelayAPI.Service {
    /// The maximum number of jobs of an app that are being expanded, scheduled ones included.
    static let jobLimit = 100

    /// Stores a job, or returns the one that an earlier request of the same content has stored.
    ///
    /// Those of a batch may wait for capacity. The error is that another request has the identifier, or that the outbox
    /// cannot store the job.
    func add(_ job: Job, waitingForRoom limit: Duration = .zero) async throws(APIProblem) -> StoredJob {
        let parts = parts
        let most = Self.jobLimit
        let result = await parts.intake.callOutbox(for: [job.app: 1], from: caller, waitingForRoom: limit) {
            (_) async throws(OutboxError) -> JobAddition? in
            let jobs = parts.outbox.jobs
            if try await jobs.expandingJobCount(of: job.app) >= most {
                guard try await jobs.job(job.id, of: job.app) != nil else { return nil }
            }
            return try await jobs.add(job, at: parts.now)
        }
        switch result {
        case .success(.added(let stored)?):
            await parts.intake.context.log.info(
                .jobStarted,
                ["app": .string(job.app), "job": .string("\(job.id)"), "caller": .string(job.caller)]
            )
            return stored
        case .success(.duplicate(let stored)?): return stored
        case .success(.conflict?):
            throw APIProblem(422, "another request has a job with this Idempotency-Key or id: choose a new one")
        case .success(.none):
            throw APIProblem(
                429,
                "\(most) jobs of the app are being expanded: wait until one is expanded, or cancel one",
                retryAfter: 30
            )
        case .failure(let error): throw APIProblem(error)
        }
    }
}
