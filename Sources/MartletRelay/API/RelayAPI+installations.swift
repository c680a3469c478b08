// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let scope = RelayConfiguration.Caller.Scope.installations.rawValue
    private static let id = RouteParameter(
        .path,
        name: "id",
        summary: "The identifier of the installation",
        schema: .schema("InstallationID")
    )
    private static let user = RouteParameter(.path, name: "user", summary: "The user, percent-encoded")

    /// Routes for back ends: tickets, installations and users.
    static let installationRoutes: [Route] = [
        Route(
            method: "POST",
            path: "/v1/apps/{app}/tickets",
            summary: "Issues a ticket, with which an app enrolls as a user",
            access: .scope(scope, audit: "issue-ticket"),
            body: RouteBody(.schema("TicketRequest")),
            answers: [RouteAnswer(201, "The ticket, which is shown only here", .schema("Ticket"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let body = InstallationReader.Field(try call.json(), named: "the body")
            let request = try await APIProblem.wrapping(TicketRequest(body))
            let (text, ticket) = try await APIProblem.wrapping(await call.parts.registry.issueTicket(request, of: app))
            return .json(["ticket": .string(text), "expires-at": .whole(ticket.expiresAt)], status: 201)
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/installations",
            summary: "Installations with their tokens, in the order of their enrollment",
            access: .scope(scope, audit: "list-installations"),
            parameters: [
                RouteParameter(name: "user", summary: "Only those of this user"),
                RouteParameter(name: "tag", summary: "Only those with this tag"),
                after("installations"),
                limit,
            ],
            answers: [RouteAnswer(200, "The installations", .schema("Installations"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let selection = try InstallationSelection(user: call.text("user"), tag: call.text("tag"))
            let after = Int64(try call.number("after", 0 ... .max, default: 0))
            let limit = try call.number("limit", 1...1_000, default: 100)
            let store = call.parts.outbox.installations
            let found = try await call.service.readAlone { () async throws(OutboxError) in
                try await store.page(of: app, selection, after: after, limit: limit)
            }
            return .json([
                "installations": .array(found.map(\.installation.json)), "cursor": .whole(found.last?.number ?? after),
            ])
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/installations",
            summary: "Imports installations without tickets, a line of JSON each",
            access: .scope(scope, audit: "import-installations"),
            body: RouteBody(
                [
                    "type": "string", "description": "Lines with an ImportedInstallation each",
                    "contentSchema": .schema("ImportedInstallation"),
                ],
                type: "application/x-ndjson",
                examples: [
                    .init(
                        "two phones",
                        .string(
                            #"{"user":"anna","tokens":{"device":"5d3a6a1c8f9a42d6"},"tags":["vip"]}"# + "\n"
                                + #"{"user":"bert","tokens":{"device":"8f9a42d65d3a6a1c"},"locale":"de-CH"}"# + "\n"
                        )
                    )
                ]
            ),
            answers: [RouteAnswer(200, "The numbers of lines by result, and the refused lines", .schema("Import"))],
            problems: [429, 503],
            streamsBody: true
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let reader = try await call.installationReader(for: app)
            let slot = try await call.parts.intake.openBatch(for: call.caller)
            var run = InstallationImportRun(call, reader, slot)
            return .json(try await run.summary())
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/installations/{id}",
            summary: "An installation with its tokens",
            access: .scope(scope, audit: "show-installation"),
            parameters: [id],
            answers: [RouteAnswer(200, "The installation", .schema("Installation"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let stored = try await call.storedInstallation()
            return .json(stored.installation.json)
        },
        Route(
            method: "PATCH",
            path: "/v1/apps/{app}/installations/{id}",
            summary: "Changes an installation: a JSON Merge Patch, in which null removes",
            access: .scope(scope, audit: "change-installation"),
            parameters: [id],
            body: RouteBody(.schema("InstallationChange")),
            answers: [RouteAnswer(200, "The installation", .schema("Installation"))],
            problems: [404, 429, 503]
        ) { (call) throws(APIProblem) in
            let stored = try await call.storedInstallation()
            let reader = try await call.installationReader(for: stored.installation.app)
            let body = InstallationReader.Field(try call.json(), named: "the body")
            let change = try await APIProblem.wrapping(reader.change(of: body, by: .backEnd))
            let registry = call.parts.registry
            guard let changed = try await APIProblem.wrapping(await registry.change(stored, change, by: .backEnd))
            else {
                throw APIProblem(unknown: stored.installation.id, of: stored.installation.app)
            }
            await call.waitForHeldPushes(after: stored.installation, became: changed)
            return .json(changed.json)
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/installations/{id}",
            summary: "Removes an installation, whose secret is then void",
            access: .scope(scope, audit: "remove-installation"),
            parameters: [id],
            answers: [RouteAnswer(204, "The installation is removed", type: nil)],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let (app, id) = (try call.app(), try call.installationID())
            let wasKnown = try await call.parts.change(
                await call.parts.outbox.installations.remove(id, of: app),
                remedy: "GET /v1/apps/{app}/installations/{id} shows whether it is removed"
            )
            guard wasKnown else { throw APIProblem(unknown: id, of: app) }
            await call.parts.dispatcher.waitForHeldPushes()
            return .done
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/users/{user}",
            summary: "What the relay stores about a user: installations, surfaces, and pushes without payloads",
            access: .scope(scope, audit: "export-user"),
            parameters: [user],
            answers: [RouteAnswer(200, "The data", .schema("UserData"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let (app, user) = (try call.app(), try call.user())
            // A user has at most a few more than the limit, when several phones enroll at the same time.
            let found = try await call.parts.read(
                await call.parts.outbox.installations.installations(of: app, .user(user), after: 0, limit: 1_000)
            )
            let context = await call.parts.server.context
            let export = UserExport(found.map(\.installation), of: user, app, from: context)
            return .pieces(["content-type": "application/json", "cache-control": "no-store"], export)
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/users/{user}/overview",
            summary: "A user's phones with shortened tokens, and the last pushes to them without payloads",
            access: .scope(scope, audit: "show-user"),
            parameters: [user],
            answers: [RouteAnswer(200, "The phones and pushes", .schema("UserOverview"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let (app, user) = (try call.app(), try call.user())
            var overview = UserOverview(of: user, app)
            do throws(OutboxError) {
                try await overview.read(from: call.parts.outbox)
            } catch {
                throw APIProblem(error)
            }
            return .json(overview.json)
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/users/{user}",
            summary: "Removes a user: tickets, installations, surfaces, and the pushes and dead letters to the user",
            access: .scope(scope, audit: "erase-user"),
            parameters: [user],
            answers: [RouteAnswer(200, "The numbers of what was removed", .schema("UserErasure"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let (app, user) = (try call.app(), try call.user())
            var erasure = UserErasure(in: app, call.parts)
            do throws(OutboxError) {
                try await erasure.run(for: user)
            } catch {
                throw APIProblem(error)
            }
            return .json(erasure.json)
        },
    ]
}

extension APIProblem {
    /// Creates the problem of a refused request about installations.
    init(_ error: InstallationError) {
        let status =
            switch error.kind {
            case .invalidValue: 400
            case .invalidCredential: 401
            case .tooManyRequests: 429
            case .unavailable: 503
            }
        self.init(status, error.message, at: error.pointer, retryAfter: error.retryAfter)
        if error.isOutcomeUnknown { extensions = [Self.unknownResult] }
    }

    /// Returns the result of a request about installations; its error becomes a problem.
    static func wrapping<Value>(
        _ body: @autoclosure () async throws(InstallationError) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(InstallationError) {
            return try await body()
        } catch {
            throw APIProblem(error)
        }
    }
}

extension APICall<RelayAPI.Service> {
    /// Returns the reader for an app, which may not be configured any more.
    func installationReader(for app: String) async throws(APIProblem) -> InstallationReader {
        InstallationReader(app: try await configuredApp(app))
    }

    /// Returns the configuration of an app, which may have been removed from it.
    func configuredApp(_ name: String) async throws(APIProblem) -> RelayConfiguration.App {
        let configuration = await parts.server.context.configuration
        guard let app = configuration.apps.first(where: { $0.name == name }) else {
            throw APIProblem(403, "the relay no longer serves the app \(name)")
        }
        return app
    }

    /// Waits until no earlier push to a former user of a token is sent any more, if a change has other tokens.
    func waitForHeldPushes(after old: Installation, became new: Installation) async {
        guard old.tokens.mapValues(\.token) != new.tokens.mapValues(\.token) else { return }
        await parts.dispatcher.waitForHeldPushes()
    }

    /// Returns the installation in the path.
    fileprivate func storedInstallation() async throws(APIProblem) -> StoredInstallation {
        let app = try app()
        let id = try installationID()
        let store = parts.outbox.installations
        let stored = try await parts.read(await store.installation(id, of: app))
        guard let stored else { throw APIProblem(unknown: id, of: app) }
        return stored
    }

    fileprivate func installationID() throws(APIProblem) -> InstallationID {
        let text = arguments["id"] ?? ""
        guard let id = InstallationID(text) else {
            let found = ShownValue.quoted(text)
            throw APIProblem(400, "the identifier of an installation must be a UUID in lower case (found \(found))")
        }
        return id
    }

    /// Returns the user in the path.
    fileprivate func user() throws(APIProblem) -> String {
        try argument("user", .user, named: "user")
    }

    /// Returns a percent-encoded text of the path that has to follow a rule.
    func argument(_ name: String, _ rule: TextRule, named subject: String) throws(APIProblem) -> String {
        try rule.checked(String(percentEncoded: (arguments[name] ?? "")[...].utf8), named: subject)
    }
}

extension TextRule {
    /// Returns a text of the path or the query, which has to follow the rule.
    fileprivate func checked(_ text: String, named name: String) throws(APIProblem) -> String {
        guard accepts(text) else {
            throw APIProblem(400, "\(name) \(JSONValue.string(text).mismatch(description))")
        }
        return text
    }
}

extension InstallationSelection {
    /// Creates the selection of a query.
    fileprivate init(user: String?, tag: String?) throws(APIProblem) {
        switch (user, tag) {
        case (nil, nil): self = .all
        case (let user?, nil): self = .user(try TextRule.user.checked(user, named: "user"))
        case (nil, let tag?): self = .tag(try TextRule.tag.checked(tag, named: "tag"))
        case (_?, _?): throw APIProblem(400, "either user or tag can be given, not both")
        }
    }
}

extension APIProblem {
    fileprivate init(unknown id: InstallationID, of app: String) {
        self.init(404, "\(app) has no installation \(id)")
    }
}
