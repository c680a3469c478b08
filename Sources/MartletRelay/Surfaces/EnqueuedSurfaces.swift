// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The work on requests of back ends in SQL about surfaces: they are carried out after the checks of `PUT`, or refused.
struct EnqueuedSurfaces {
    /// The maximum number of characters of a problem in an outcome.
    private static let longestProblem = 500

    let context: RelayContext
    let dispatcher: Dispatcher

    /// The answers to the checks of requests, each in the order of the requests.
    private struct Checks {
        var passed: [CheckedSurface] = []
        var refused: [(request: EnqueuedSurface, problem: APIProblem)] = []
        /// The problem of the first request that cannot be checked now.
        var unavailable: APIProblem?
    }

    /// Carries out or refuses the oldest requests.
    ///
    /// - Parameters:
    ///   - app: The app whose requests are meant; nil for all apps.
    ///   - limit: The maximum number of requests.
    /// - Returns: Whether more requests may be left.
    /// - Throws: ``OutboxError``, also when a request cannot be checked now: it and those of its app that follow are
    ///   carried out by another call.
    func carryOut(of app: String? = nil, limit: Int) async throws(OutboxError) -> Bool {
        guard let store = context.outbox.surfaces.enqueued else { return false }
        let requests = try await store.enqueuedSurfaces(of: app, limit: limit)
        guard !requests.isEmpty else { return false }
        let now = context.now
        let clients = await dispatcher.clients
        var stored: [Int64: StoredSurface] = [:]
        for request in requests where request.request != nil {
            stored[request.number] = try await context.outbox.surfaces.surface(request.surface, of: request.app)
        }
        let apps = context.configuration.apps
        let checks = await EnqueuedSurfaces.check(requests, replacing: stored, in: apps, with: clients, at: now)
        // Before later ones about the same surface, because another configuration might allow them in the next call.
        try await refuse(checks.refused, store)
        let changes = try await store.carryOut(checks.passed, limit: RelayAPI.Service.surfaceLimit, at: now)
        let problems = zip(checks.passed, changes).compactMap { checked, change in
            change?.problem(of: checked.request).map { (request: checked.request, problem: $0) }
        }
        try await refuse(problems, store)
        if let problem = checks.unavailable { throw OutboxError(.unavailable, problem.detail) }
        return requests.count == limit || changes.contains(nil)
    }

    /// Checks requests outside of the event loop, each with the surface that it replaces, by the number of the request.
    ///
    /// After one that cannot be checked now, those of its app are left out.
    @concurrent
    private static func check(
        _ requests: [EnqueuedSurface],
        replacing stored: [Int64: StoredSurface],
        in apps: [RelayConfiguration.App],
        with clients: LaneClients,
        at now: Int64
    ) async -> Checks {
        var checks = Checks()
        var unavailable: Set<String> = []
        for request in requests where !unavailable.contains(request.app) {
            do throws(APIProblem) {
                let surface = try request.checked(replacing: stored[request.number], in: apps, with: clients, at: now)
                checks.passed.append(CheckedSurface(request, surface))
            } catch {
                guard error.retryAfter != nil else {
                    checks.refused.append((request, error))
                    continue
                }
                checks.unavailable = checks.unavailable ?? error
                unavailable.insert(request.app)
            }
        }
        return checks
    }

    /// Refuses requests, which are reported as refused pushes are.
    private func refuse(
        _ requests: [(request: EnqueuedSurface, problem: APIProblem)],
        _ store: any EnqueuedSurfaceStore
    ) async throws(OutboxError) {
        let refusals = requests.map { request, problem in
            // A database does not store the zero in a text.
            let detail = problem.detail.prefix(EnqueuedSurfaces.longestProblem).replacing("\0", with: "?")
            let reason = "\(Outcome.surfaceReason)\(request.surface): \(detail)"
            let app = context.configuration.apps.first { $0.name == request.app }
            return RefusedSurface(
                request,
                Outcome(.refused, status: problem.status, reason: reason),
                in: app?.environments.first ?? .production
            )
        }
        guard !refusals.isEmpty else { return }
        let refused = try await store.refuse(refusals, at: context.now)
        await dispatcher.recordRemoval(of: refused)
    }
}

extension EnqueuedSurface {
    /// Returns the surface that the request stores, nil to withdraw one; the error is that of `PUT`.
    fileprivate func checked(
        replacing stored: StoredSurface?,
        in apps: [RelayConfiguration.App],
        with clients: LaneClients,
        at now: Int64
    ) throws(APIProblem) -> MartletOutbox.Surface? {
        guard let app = apps.first(where: { $0.name == self.app }) else {
            throw APIProblem(403, "the relay no longer serves the app \(self.app)")
        }
        guard let request else { return nil }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(request)
        } catch {
            throw APIProblem(400, "the request \(error.rule): \(error)")
        }
        let read = try SurfaceRequest(json, of: surface, in: app, at: now)
        var builder = PushRequestBuilder(
            caller: Callers.Caller(name: caller, apps: [app.name], scopes: [.send]),
            apps: [app],
            clients: clients,
            idempotencyKey: nil,
            traceParent: nil,
            now: now,
            generator: SplitMix64(state: 0)
        )
        try builder.checkPushes(of: read.content, in: app)
        return try read.surface(surface, of: app.name, by: caller, replacing: stored)
    }
}

extension SurfaceChange {
    /// Returns the reason why a request was not carried out; nil if it was.
    fileprivate func problem(of request: EnqueuedSurface) -> APIProblem? {
        switch self {
        case .changed, .unchanged: nil
        case .refused(nil) where request.request == nil: .unknownSurface(request.surface)
        case .refused(let stored): APIProblem(conditionUnmetBy: stored)
        case .channelInUse(let other): APIProblem(channelInUseBy: other)
        case .full: .tooManySurfaces
        }
    }
}
