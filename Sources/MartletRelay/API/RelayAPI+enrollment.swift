// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    /// The maximum size of a request of an app, in bytes.
    static let longestAppBody = 64 << 10
    /// The maximum time in which the body of such a request must arrive.
    static let appBodyTime = Duration.seconds(60)

    private static let secret = RouteAccess.ownCredential("the secret of an installation")

    /// The maximum number of surfaces in an answer to an app: those with the largest snapshots have 1.6 MB.
    private static let surfaceLimit = 50

    /// Routes for apps on phones.
    ///
    /// Phones have to reach only the paths that begin with `/v1/installation`.
    static let enrollmentRoutes: [Route] = [
        Route(
            method: "POST",
            path: "/v1/installation",
            summary: "Enrolls an app with a ticket of its back end, and returns the installation with its secret",
            access: .ownCredential("a ticket"),
            body: RouteBody(.schema("EnrollmentRequest")),
            answers: [RouteAnswer(201, "The installation and its secret", .schema("Enrollment"))],
            problems: [408, 429, 503],
            streamsBody: true
        ) { (call) throws(APIProblem) in
            let registry = call.parts.registry
            let ticket = try await APIProblem.wrapping(await registry.ticket(call.fields["authorization"]))
            let reader = try await call.installationReader(for: ticket.app)
            let body = InstallationReader.Field(try await call.appBody(), named: "the body")
            let change = try await APIProblem.wrapping(reader.change(of: body, by: .app, besides: ["replaces"]))
            guard let environment = change.environment else {
                throw APIProblem(body["environment"].mismatch("production or development"))
            }
            let replaced = try await APIProblem.wrapping(InstallationReader.replacedSecret(body["replaces"]))
            let (installation, secret) = try await APIProblem.wrapping(
                await registry.enroll(
                    with: ticket,
                    change,
                    in: environment,
                    change.bundleID ?? reader.app.bundleIDs[0],
                    replacing: replaced
                )
            )
            await call.parts.dispatcher.waitForHeldPushes()
            return .json(["installation": installation.json, "secret": .string(secret)], status: 201)
        },
        Route(
            method: "GET",
            path: "/v1/installation",
            summary: "The installation of the secret",
            access: secret,
            answers: [RouteAnswer(200, "The installation", .schema("Installation"))],
            problems: [429, 503]
        ) { (call) throws(APIProblem) in
            let registry = call.parts.registry
            let stored = try await APIProblem.wrapping(await registry.installation(call.fields["authorization"]))
            return .json(stored.installation.json)
        },
        Route(
            method: "GET",
            path: "/v1/installation/surfaces",
            summary: "The surfaces that the installation of the secret shall show, the latest changes first",
            access: secret,
            answers: [RouteAnswer(200, "At most \(surfaceLimit) surfaces", .schema("DesiredSurfaces"))],
            problems: [429, 503]
        ) { (call) throws(APIProblem) in
            let registry = call.parts.registry
            let stored = try await APIProblem.wrapping(await registry.installation(call.fields["authorization"]))
            let found = try await APIProblem.wrapping(await registry.surfaces(on: stored, limit: surfaceLimit))
            let surfaces = await StoredSurface.json(of: found, for: stored.installation)
            return .json(["surfaces": surfaces])
        },
        Route(
            method: "PATCH",
            path: "/v1/installation",
            summary: "Changes the installation of the secret: a JSON Merge Patch, in which null removes",
            access: secret,
            body: RouteBody(.schema("InstallationReport")),
            answers: [RouteAnswer(200, "The installation", .schema("Installation"))],
            problems: [408, 429, 503],
            streamsBody: true
        ) { (call) throws(APIProblem) in
            let registry = call.parts.registry
            let stored = try await APIProblem.wrapping(await registry.installation(call.fields["authorization"]))
            let reader = try await call.installationReader(for: stored.installation.app)
            let body = InstallationReader.Field(try await call.appBody(), named: "the body")
            let change = try await APIProblem.wrapping(reader.change(of: body, by: .app))
            guard let changed = try await APIProblem.wrapping(await registry.change(stored, change, by: .app)) else {
                throw APIProblem(401, "the installation was removed: enroll again")
            }
            await call.waitForHeldPushes(after: stored.installation, became: changed)
            return .json(changed.json)
        },
        Route(
            method: "DELETE",
            path: "/v1/installation",
            summary: "Removes the installation of the secret, as when its user signs out",
            access: secret,
            answers: [RouteAnswer(204, "The installation is removed", type: nil)],
            problems: [429, 503]
        ) { (call) throws(APIProblem) in
            try await APIProblem.wrapping(await call.parts.registry.remove(call.fields["authorization"]))
            await call.parts.dispatcher.waitForHeldPushes()
            return .done
        },
    ]

    /// Returns the problem of a request of an app whose body is not read: it is too long, of unknown length, or the
    /// credential cannot be one; nil for others.
    static func appBodyProblem(of request: HTTPRequest) -> APIProblem? {
        let authorization = request.fields["authorization"]
        let kinds = [SecretPrefix.ticket, .installation]
        guard kinds.contains(where: { RandomSecret(authorization: authorization, $0) != nil }) else {
            return APIProblem(401, "authorization must be bearer and a ticket, or the secret of an installation")
        }
        let length = request.fields["content-length"].flatMap { Int($0) } ?? .max
        return length > longestAppBody ? tooLongAppBody : nil
    }

    /// Reads the body of a request of an app.
    ///
    /// A body of which nothing arrives for some time is ended by the connection; the limit is for one that arrives
    /// slowly.
    static func appBody(
        from stream: HTTP1Body,
        within limit: Duration = appBodyTime
    ) async throws(APIProblem) -> [UInt8] {
        let end = ContinuousClock.now + limit
        var pieces = stream.makeAsyncIterator()
        var body: [UInt8] = []
        while let piece = try await next(of: &pieces) {
            body += piece
            guard body.count <= longestAppBody else { throw tooLongAppBody }
            guard ContinuousClock.now < end else {
                throw APIProblem(408, "the body did not arrive within \(limit.components.seconds.counted("second"))")
            }
        }
        return body
    }

    private static func next(of pieces: inout HTTP1Body.Iterator) async throws(APIProblem) -> [UInt8]? {
        do throws(HTTP1Body.Broken) {
            return try await pieces.next()
        } catch {
            throw APIProblem(400, "the connection ended before the body was complete")
        }
    }

    static let tooLongAppBody = APIProblem(
        413,
        "the body must have at most \(longestAppBody) bytes, and its length in content-length"
    )
}

extension APICall<RelayAPI.Service> {
    /// Returns the body of a request of an app as JSON.
    fileprivate func appBody() async throws(APIProblem) -> JSONValue {
        // The whole body, if it did not arrive over HTTP/1.1.
        guard body.isEmpty, let stream else { return try json() }
        return try json(of: try await RelayAPI.appBody(from: stream))
    }
}
