// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let surfaceID = RouteParameter(
        .path,
        name: "id",
        summary: "The identifier of the surface, percent-encoded: the surfaceId of its snapshots",
        schema: .schema("SurfaceID")
    )
    private static let ifMatch = RouteParameter(
        .header,
        name: "If-Match",
        summary: "The revision in quotation marks that the surface must have, as etag has it",
        schema: ["type": "string", "pattern": #"^"[1-9][0-9]*"$"#]
    )
    private static let ifNoneMatch = RouteParameter(
        .header,
        name: "If-None-Match",
        summary: "An asterisk, to store only a surface that does not exist or was withdrawn",
        schema: ["const": "*"]
    )
    /// The maximum number of entries of a page: surfaces are read with their snapshots, and installations with their
    /// tokens and states.
    fileprivate static let longestPage = 200
    private static let pageLimit = RouteParameter(
        name: "limit",
        summary: "Maximum number of entries in the response",
        schema: ["type": "integer", "minimum": 1, "maximum": .integer(longestPage), "default": 100]
    )
    private static let etag = (name: "etag", summary: "The revision in quotation marks")

    /// The routes that store, show and withdraw surfaces.
    static let surfaceRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/apps/{app}/surfaces",
            summary: "Surfaces without their snapshots, also withdrawn ones, in the order of their creation",
            access: .scope("read", audit: nil),
            parameters: [after("surfaces"), pageLimit],
            answers: [RouteAnswer(200, "The surfaces", .schema("Surfaces"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let (after, limit) = try call.page()
            let store = call.parts.outbox.surfaces
            let found = try await call.service.readAlone { () async throws(OutboxError) in
                try await store.surfaces(of: app, after: after, limit: limit)
            }
            let showsUsers = call.caller.scopes.contains(.installations)
            return .json([
                "surfaces": .array(found.map { $0.json(showsUsers: showsUsers) }),
                "cursor": .whole(found.last?.number ?? after),
            ])
        },
        Route(
            method: "PUT",
            path: "/v1/apps/{app}/surfaces/{id}",
            summary: "Stores what the phones of an audience shall show, until it is replaced or withdrawn",
            access: .scope("send", audit: nil),
            parameters: [surfaceID, ifMatch, ifNoneMatch],
            body: RouteBody(.schema("SurfaceRequest"), examples: surfaceExamples),
            answers: [
                RouteAnswer(
                    200,
                    "The surface is stored, or has this content already and keeps its revision",
                    .schema("Surface"),
                    fields: [etag]
                ),
                RouteAnswer(201, "The surface is stored, and new", .schema("Surface"), fields: [etag]),
            ],
            problems: [409, 412, 429, 503]
        ) { (call) throws(APIProblem) in
            let app = try await call.configuredApp(try call.app())
            let id = try call.surfaceID()
            let condition = try SurfacePrecondition(call.fields)
            let request = try SurfaceRequest(try call.json(), of: id, in: app, at: call.parts.now)
            let (store, name) = (call.parts.outbox.surfaces, app.name)
            let stored = try await call.parts.read(await store.surface(id, of: name))
            let surface = try request.surface(id, of: name, by: call.caller.name, replacing: stored)
            var builder = try await call.parts.intake.requestBuilder(for: call)
            try builder.checkPushes(of: request.content, in: app)
            return try await call.finish(try await call.service.put(surface, if: condition))
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/surfaces/{id}",
            summary: "A surface, for a key that also has the scope send with its snapshots",
            access: .scope("read", audit: nil),
            parameters: [surfaceID],
            answers: [RouteAnswer(200, "The surface", .schema("Surface"), fields: [etag])],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let stored = try await call.storedSurface()
            let problem = try await call.broadcastProblem(of: stored)
            return stored.answer(to: call.caller, hasSnapshots: true, problem: problem)
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/surfaces/{id}/installations",
            summary: "What each installation of a surface shall show, what it is assumed to show, and why they differ",
            access: .scope("read", audit: nil),
            parameters: [surfaceID, after("installations"), pageLimit],
            answers: [
                RouteAnswer(200, "The installations, in the order of their enrollment", .schema("SurfaceInstallations"))
            ],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let (after, limit) = try call.page()
            let surface = try await call.storedSurface()
            let store = call.parts.outbox.surfaces
            let found = try await call.service.readAlone { () async throws(OutboxError) in
                try await store.sessions(of: surface, after: after, limit: limit)
            }
            let content = surface.content
            let states = found.map(\.currentState)
            let broadcasts = try await call.statuses(of: states.compactMap(\.activity.broadcast), to: surface)
            let showsUser = call.caller.scopes.contains(.installations)
            return .json([
                "revision": .whole(surface.revision), "changed-at": .whole(surface.changedAt),
                "spreading": .bool(surface.cursor != nil),
                "installations": .array(
                    zip(found, states).map { $0.json($1, of: content, broadcasts, showsUser: showsUser) }
                ),
                "cursor": .whole(found.last?.installation.number ?? after),
            ])
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/surfaces/{id}",
            summary: "Withdraws a surface: the relay ends its Live Activities, and sends no more for it",
            // The surface may be that of another caller.
            access: .scope("send", audit: "withdraw-surface"),
            parameters: [surfaceID, ifMatch],
            answers: [
                RouteAnswer(
                    200,
                    "The surface is withdrawn, by this request or an earlier one",
                    .schema("Surface"),
                    fields: [etag]
                )
            ],
            problems: [404, 412, 503]
        ) { (call) throws(APIProblem) in
            let (app, id) = (try call.app(), try call.surfaceID())
            let condition = try SurfacePrecondition(call.fields)
            let (store, now) = (call.parts.outbox.surfaces, call.parts.now)
            let change = try await call.parts.change(
                await store.withdraw(id, of: app, if: condition, at: now),
                remedy: "GET /v1/apps/{app}/surfaces/{id} shows whether it is withdrawn"
            )
            if case .refused(nil) = change { throw APIProblem.unknownSurface(id) }
            return try await call.finish(change)
        },
    ]

    private static let surfaceExamples: [JSONValue.Member] = [
        .init("order", ["to": ["user": "anna"], "snapshots": [SurfaceSnapshot.example(of: .liveActivity).json]])
    ]
}

extension APICall<RelayAPI.Service> {
    /// Returns the cursor and the maximum number of entries of a page.
    fileprivate func page() throws(APIProblem) -> (after: Int64, limit: Int) {
        let after = try number("after", 0 ... .max, default: 0)
        let limit = try number("limit", 1...RelayAPI.longestPage, default: 100)
        return (Int64(after), limit)
    }

    /// Returns the identifier of the surface in the path.
    fileprivate func surfaceID() throws(APIProblem) -> String {
        try argument("id", .surface, named: "the identifier of the surface")
    }

    /// Returns the surface in the path.
    fileprivate func storedSurface() async throws(APIProblem) -> StoredSurface {
        let app = try app()
        let id = try surfaceID()
        let store = parts.outbox.surfaces
        let stored = try await parts.read(await store.surface(id, of: app))
        guard let stored else { throw APIProblem.unknownSurface(id) }
        return stored
    }

    /// Returns the statuses of broadcasts, of which the sessions of a surface have few different ones.
    fileprivate func statuses(
        of broadcasts: [ActivitySession.Broadcast],
        to surface: StoredSurface
    ) async throws(APIProblem) -> [APNsID: PushStatus] {
        let (outbox, app) = (parts.outbox, surface.surface.app)
        var statuses: [APNsID: PushStatus] = [:]
        for id in Set(broadcasts.compactMap { surface.id(of: $0) }) {
            statuses[id] = try await parts.read(await outbox.status(of: id, of: app))
        }
        return statuses
    }

    /// Returns the reason why Apple has refused the newest broadcast of a surface; nil if it has not.
    fileprivate func broadcastProblem(of surface: StoredSurface) async throws(APIProblem) -> String? {
        let (outbox, now) = (parts.outbox, parts.now)
        let refusal = try await parts.read(await surface.broadcastRefusal(in: outbox, at: now))
        return refusal.map { refusal in
            "Apple has refused a broadcast to the channel"
                + (refusal.reason.map { ": \($0): \($0.broadcastRemedy)" } ?? " without a reason")
        }
    }

    /// Brings a changed surface to phones, and returns the answer to the change; the error is that the store has
    /// refused it.
    fileprivate func finish(_ change: SurfaceChange) async throws(APIProblem) -> HTTP1Answer {
        switch change {
        case .changed(let stored):
            await parts.surfaces.wake()
            // A new surface has the first revision.
            return stored.answer(to: caller, status: stored.revision == 1 ? 201 : 200)
        case .unchanged(let stored): return stored.answer(to: caller)
        case .refused(let stored): throw APIProblem(conditionUnmetBy: stored)
        case .channelInUse(let other): throw APIProblem(channelInUseBy: other)
        case .full: throw APIProblem.tooManySurfaces
        }
    }
}

extension RelayAPI.Service {
    /// The maximum number of surfaces of an app that are not withdrawn.
    static let surfaceLimit = 100_000

    /// Returns the result of a long read, of which the caller has one at a time.
    func readAlone<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(OutboxError) -> Value
    ) async throws(APIProblem) -> Value {
        let context = await parts.server.context
        return try await RelayAPI.outboxCall(await context.readAlone(for: caller.name, body).get())
    }

    /// Stores a surface; the error is that the outbox cannot store it now.
    fileprivate func put(
        _ surface: MartletOutbox.Surface,
        if condition: SurfacePrecondition
    ) async throws(APIProblem) -> SurfaceChange {
        let (parts, limit) = (self.parts, Self.surfaceLimit)
        let result = await parts.intake.callOutbox(for: [surface.app: 1], from: caller, waitingForRoom: .zero) {
            (_) async throws(OutboxError) -> SurfaceChange in
            let store = parts.outbox.surfaces
            let change = try await store.put(surface, if: condition, limit: limit, at: parts.now)
            guard case .unchanged(let stored) = change, stored.content == nil else { return change }
            // A request that cannot be read still has the fingerprint of what was stored: another one replaces it.
            var replacement = surface
            replacement.fingerprint.append(0)
            return try await store.put(replacement, if: condition, limit: limit, at: parts.now)
        }
        return try await RelayAPI.outboxCall(result.get())
    }
}

extension APIProblem {
    /// The problem of an app that has as many surfaces as it may have.
    static let tooManySurfaces = APIProblem(
        429,
        "the app has \(RelayAPI.Service.surfaceLimit) surfaces that are not withdrawn: withdraw others",
        retryAfter: 60
    )

    /// Returns the problem of a surface that is not known.
    static func unknownSurface(_ id: String) -> APIProblem {
        APIProblem(404, "the surface \(ShownValue(id)) does not exist, or was deleted some time after its withdrawal")
    }

    /// Creates the problem of a channel that another surface has.
    init(channelInUseBy other: String) {
        self.init(
            409,
            "channel.id must be a channel that no other surface has (the surface \(ShownValue(other)) has it, and a"
                + " broadcast reaches all phones on the channel): create a channel for each surface",
            at: "/channel/id"
        )
    }

    /// Creates the problem of a condition that a surface, nil for an unknown one, does not meet.
    init(conditionUnmetBy stored: StoredSurface?) {
        let revision = stored.flatMap { $0.withdrawnAt == nil ? $0.revision : nil }
        let state = revision.map { "has the revision \($0)" } ?? (stored == nil ? "does not exist" : "is withdrawn")
        let remedy = stored == nil ? "store it without a condition" : "read it, and decide whether to change it"
        self.init(412, "the surface \(state), so nothing has changed: \(remedy)")
        if let revision { extensions = [JSONValue.Member("revision", .whole(revision))] }
    }
}

extension SurfacePrecondition {
    /// Reads the condition of `If-Match` or `If-None-Match` (RFC 9110 section 13.1).
    fileprivate init(_ fields: HTTPFields) throws(APIProblem) {
        // All fields with a name count as one (RFC 9110 section 5.3).
        func value(_ name: String) -> String? {
            let values = fields.compactMap { $0.name == name ? $0.value : nil }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        switch (value("if-match"), value("if-none-match")) {
        case (nil, nil): self = .none
        case (nil, "*"?): self = .isAbsent
        case (nil, let tag?):
            throw APIProblem(400, "If-None-Match must be *, without quotation marks (found \(ShownValue(tag)))")
        case (let tag?, nil):
            guard let revision = Int64(tag.dropFirst().dropLast()), revision > 0, tag == "\"\(revision)\"" else {
                // The value as it was sent: quotation marks around it would look like those that are missing.
                let found = "\(ShownValue(tag))\(tag.contains("\"") ? "" : " without quotation marks")"
                throw APIProblem(400, "If-Match must be a revision in quotation marks, as etag has it (found \(found))")
            }
            self = .hasRevision(revision)
        case (_?, _?): throw APIProblem(400, "either If-Match or If-None-Match can be given, not both")
        }
    }
}
