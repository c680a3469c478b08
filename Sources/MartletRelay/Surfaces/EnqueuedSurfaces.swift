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

    /// Carries out or refuses the oldest requests.
    ///
    /// - Parameter limit: The maximum number of requests.
    /// - Returns: The number of requests. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``, also when a request cannot be checked now; the requests that are left are carried out
    ///   by another call.
    func carryOut(limit: Int) async throws(OutboxError) -> Int {
        guard let store = context.outbox.surfaces.enqueued else { return 0 }
        let requests = try await store.enqueuedSurfaces(limit: limit)
        guard !requests.isEmpty else { return 0 }
        let clients = await dispatcher.clients
        for request in requests {
            let now = context.now
            let app = context.configuration.apps.first { $0.name == request.app }
            let stored = try await context.outbox.surfaces.surface(request.surface, of: request.app)
            switch await EnqueuedSurfaces.check(request, replacing: stored, in: app, with: clients, at: now) {
            case .success(let surface):
                let limit = RelayAPI.Service.surfaceLimit
                let change = try await store.carryOut(request, with: surface, limit: limit, at: now)
                guard let problem = change?.problem(of: request) else { continue }
                try await refuse(request, because: problem, in: app, store)
            case .failure(let problem) where problem.retryAfter != nil:
                throw OutboxError(.unavailable, problem.detail)
            case .failure(let problem): try await refuse(request, because: problem, in: app, store)
            }
        }
        return requests.count
    }

    /// Returns the surface that a request stores, nil to withdraw one, after checking the request outside of the event
    /// loop.
    @concurrent
    private static func check(
        _ request: EnqueuedSurface,
        replacing stored: StoredSurface?,
        in app: RelayConfiguration.App?,
        with clients: LaneClients,
        at now: Int64
    ) async -> Result<MartletOutbox.Surface?, APIProblem> {
        guard let app else { return .failure(APIProblem(403, "the relay no longer serves the app \(request.app)")) }
        do throws(APIProblem) {
            return .success(try request.checked(replacing: stored, in: app, with: clients, at: now))
        } catch {
            return .failure(error)
        }
    }

    /// Refuses a request, which is reported as a refused push is.
    private func refuse(
        _ request: EnqueuedSurface,
        because problem: APIProblem,
        in app: RelayConfiguration.App?,
        _ store: any EnqueuedSurfaceStore
    ) async throws(OutboxError) {
        // A database does not store the zero in a text.
        let detail = problem.detail.prefix(EnqueuedSurfaces.longestProblem).replacing("\0", with: "?")
        let reason = "\(Outcome.surfaceReason)\(request.surface): \(detail)"
        let status = try await store.refuse(
            request,
            with: Outcome(.refused, status: problem.status, reason: reason),
            in: app?.environments.first ?? .production,
            at: context.now
        )
        if let status { await dispatcher.recordRemoval(of: [status]) }
    }
}

extension EnqueuedSurface {
    /// Returns the surface that the request stores, nil to withdraw one; the error is that of `PUT`.
    fileprivate func checked(
        replacing stored: StoredSurface?,
        in app: RelayConfiguration.App,
        with clients: LaneClients,
        at now: Int64
    ) throws(APIProblem) -> MartletOutbox.Surface? {
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
