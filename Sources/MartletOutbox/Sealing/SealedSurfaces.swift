// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The surfaces of a sealed outbox.
///
/// A surface whose request cannot be opened is marked as damaged, as is a session whose state cannot be opened.
struct SealedSurfaces: SurfaceStore {
    let store: any SurfaceStore
    let keeper: SealKeeper
    var enqueued: (any EnqueuedSurfaceStore)? {
        store.enqueued.map { SealedEnqueuedSurfaces(store: $0, keeper: keeper) }
    }

    func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        let seal = try await keeper.seal()
        let sealed = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(surface) }
        return try await store.put(sealed, if: condition, limit: limit, at: now).opened(by: seal)
    }

    func withdraw(
        _ id: String,
        of app: String,
        if condition: SurfacePrecondition,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        let seal = try await keeper.seal()
        return try await store.withdraw(id, of: app, if: condition, at: now).opened(by: seal)
    }

    func removeUser(
        _ user: String,
        with installations: [InstallationID],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) {
        try await store.removeUser(user, with: installations, of: app, at: now)
    }

    func surface(_ id: String, of app: String) async throws(OutboxError) -> StoredSurface? {
        let seal = try await keeper.seal()
        return try await store.surface(id, of: app)?.opened(by: seal)
    }

    func surfaces(of app: String, after number: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        let seal = try await keeper.seal()
        return try await store.surfaces(of: app, after: number, limit: limit).map { $0.opened(by: seal) }
    }

    func surfacesWithChannel(
        of app: String,
        after channel: String,
        limit: Int
    ) async throws(OutboxError) -> [StoredSurface] {
        let seal = try await keeper.seal()
        return try await store.surfacesWithChannel(of: app, after: channel, limit: limit)
            .map { $0.opened(by: seal) }
    }

    func surfaceCounts() async throws(OutboxError) -> [String: Int] {
        try await store.surfaceCounts()
    }

    func surfaces(
        for user: String,
        _ installation: InstallationID,
        of app: String
    ) async throws(OutboxError) -> [StoredSurface] {
        try await store.surfaces(for: user, installation, of: app)
    }

    func surfacesWithExpression(of app: String) async throws(OutboxError) -> [StoredSurface] {
        try await store.surfacesWithExpression(of: app)
    }

    func surfaces(on installation: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        let seal = try await keeper.seal()
        return try await store.surfaces(on: installation, limit: limit).map { $0.opened(by: seal) }
    }

    func sessions(
        of surface: StoredSurface,
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [DueSession] {
        let seal = try await keeper.seal()
        return try await store.sessions(of: surface, after: installation, limit: limit)
            .map { $0.opened(by: seal, surface) }
    }

    func unfinishedSurfaces(limit: Int) async throws(OutboxError) -> [StoredSurface] {
        let seal = try await keeper.seal()
        return try await store.unfinishedSurfaces(limit: limit).map { $0.opened(by: seal) }
    }

    func store(_ pages: [SurfacePage], at now: Int64) async throws(OutboxError) -> [Bool] {
        try await store.store(pages, at: now)
    }

    func installationEvents(limit: Int) async throws(OutboxError) -> [InstallationEvent] {
        let seal = try await keeper.seal()
        return try await store.installationEvents(limit: limit).map { event in
            InstallationEvent(number: event.number, installation: event.installation.opened(by: seal))
        }
    }

    func store(_ memberships: [SurfaceMembership], at now: Int64) async throws(OutboxError) {
        try await store.store(memberships, at: now)
    }

    func dueSessions(at now: Int64, limit: Int) async throws(OutboxError) -> [DueSession] {
        let seal = try await keeper.seal()
        // Each surface is opened once, because a large one may have all of the sessions.
        var opened: [Int64: StoredSurface] = [:]
        return try await store.dueSessions(at: now, limit: limit).map { due in
            let surface = opened[due.surface.number] ?? due.surface.opened(by: seal)
            opened[due.surface.number] = surface
            return due.opened(by: seal, surface)
        }
    }

    func store(_ steps: [SessionStep], at now: Int64) async throws(OutboxError) -> StoredSteps {
        let seal = try await keeper.seal()
        var sealed: [SessionStep] = []
        for step in steps {
            let state = try OutboxError.mapping { () throws(CryptographyError) in
                try seal.seal(state: step.state, of: step.place)
            }
            let pushes = try await keeper.seal(step.pushes)
            sealed.append(step.replacing(state: state, pushes: pushes))
        }
        return try await store.store(sealed, at: now)
    }

    func recallSessions(dueAfter time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await store.recallSessions(dueAfter: time, at: now, limit: limit)
    }

    func endSurfaces(withdrawnBefore time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await store.endSurfaces(withdrawnBefore: time, at: now, limit: limit)
    }
}

/// The requests that back ends have stored before the outbox was sealed.
private struct SealedEnqueuedSurfaces: EnqueuedSurfaceStore {
    let store: any EnqueuedSurfaceStore
    let keeper: SealKeeper

    func enqueuedSurfaces(of app: String?, limit: Int) async throws(OutboxError) -> [EnqueuedSurface] {
        try await store.enqueuedSurfaces(of: app, limit: limit)
    }

    func carryOut(
        _ requests: [CheckedSurface],
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> [SurfaceChange?] {
        let seal = try await keeper.seal()
        var sealed = requests
        for (index, request) in requests.enumerated() {
            guard let surface = request.surface else { continue }
            sealed[index].surface = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(surface) }
        }
        return try await store.carryOut(sealed, limit: limit, at: now).map { $0?.opened(by: seal) }
    }

    func refuse(_ refusals: [RefusedSurface], at now: Int64) async throws(OutboxError) -> [PushStatus] {
        try await store.refuse(refusals, at: now)
    }
}

extension StoredSurface {
    fileprivate func opened(by seal: OutboxSeal) -> StoredSurface {
        // The request of a removed user was deleted.
        guard !surface.request.isEmpty else { return self }
        var opened = self
        if let surface = seal.open(surface) { opened.surface = surface } else { opened.isDamaged = true }
        return opened
    }
}

extension SurfaceChange {
    fileprivate func opened(by seal: OutboxSeal) -> SurfaceChange {
        switch self {
        case .changed(let stored): .changed(stored.opened(by: seal))
        case .unchanged(let stored): .unchanged(stored.opened(by: seal))
        case .refused(let stored): .refused(stored?.opened(by: seal))
        case .channelInUse, .full: self
        }
    }
}

extension DueSession {
    /// Returns the session with its surface as it was put.
    fileprivate func opened(by seal: OutboxSeal, _ surface: StoredSurface) -> DueSession {
        var session = session
        let state = seal.open(state: session.state, of: place)
        session.state = state ?? []
        session.isDamaged = state == nil
        return DueSession(session: session, surface: surface, installation: installation.opened(by: seal))
    }
}
