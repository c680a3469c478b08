// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import Synchronization

/// The surfaces of a model.
struct ModelSurfaces: SurfaceStore {
    let disk: ModelOutbox.Disk
    var enqueued: (any EnqueuedSurfaceStore)? { nil }

    func put(_ surface: Surface, if condition: SurfacePrecondition, limit: Int, at now: Int64) -> SurfaceChange {
        disk.model.withLock { $0.surfaces.put(surface, if: condition, limit: limit, at: now) }
    }

    func withdraw(_ id: String, of app: String, if condition: SurfacePrecondition, at now: Int64) -> SurfaceChange {
        disk.model.withLock { $0.surfaces.withdraw(id, of: app, if: condition, at: now) }
    }

    func removeUser(_ user: String, with installations: [InstallationID], of app: String, at now: Int64) {
        disk.model.withLock { $0.surfaces.removeUser(user, with: installations, of: app, at: now) }
    }

    func surface(_ id: String, of app: String) -> StoredSurface? {
        disk.model.withLock { $0.surfaces.surface(id, of: app) }
    }

    func surfaces(of app: String, after number: Int64, limit: Int) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.surfaces(of: app, after: number, limit: limit) }
    }

    func surfacesWithChannel(of app: String, after channel: String, limit: Int) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.surfacesWithChannel(of: app, after: channel, limit: limit) }
    }

    func surfaceCounts() -> [String: Int] { disk.model.withLock { $0.surfaces.counts } }

    func surfaces(for user: String, _ installation: InstallationID, of app: String) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.surfaces(for: user, installation, of: app) }
    }

    func surfacesWithExpression(of app: String) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.surfacesWithExpression(of: app) }
    }

    func surfaces(on installation: Int64, limit: Int) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.surfaces(on: installation, limit: limit) }
    }

    func sessions(of surface: StoredSurface, after installation: Int64, limit: Int) -> [DueSession] {
        let found = disk.model.withLock { model in
            model.sessions { $0.surface == surface.number && $0.installation > installation }
        }
        return found.sorted { $0.installation.number < $1.installation.number }.prefix(limit).map {
            DueSession(session: $0.session, surface: surface, installation: $0.installation)
        }
    }

    func unfinishedSurfaces(limit: Int) -> [StoredSurface] {
        disk.model.withLock { $0.surfaces.unfinished(limit: limit) }
    }

    func store(_ pages: [SurfacePage], at now: Int64) -> [Bool] {
        disk.model.withLock { model in
            pages.map { page in
                let existing = page.installations.filter { model.installations.installation($0) != nil }
                return model.surfaces.store(page, existing, at: now)
            }
        }
    }

    func installationEvents(limit: Int) -> [InstallationEvent] {
        disk.model.withLock { model in
            let events = model.surfaces.allEvents.compactMap { event in
                model.installations.installation(event.installation).map {
                    InstallationEvent(number: event.number, installation: $0)
                }
            }
            return events.turns(of: \.installation.installation.app, by: { ($0.number, $0.number) }, limit: limit)
                .sorted { $0.number < $1.number }
        }
    }

    func store(_ memberships: [SurfaceMembership], at now: Int64) {
        disk.model.withLock { model in
            for membership in memberships { model.surfaces.store(membership, at: now) }
        }
    }

    func dueSessions(at now: Int64, limit: Int) -> [DueSession] {
        let due = disk.model.withLock { $0.sessions { session in session.dueAt.map { $0 <= now } ?? false } }
        func place(_ due: DueSession) -> (Int64, Int64) { (due.session.dueAt ?? 0, due.session.number) }
        return due.turns(of: \.surface.surface.app, by: place, limit: limit).sorted { place($0) < place($1) }
    }

    func store(_ steps: [SessionStep], at now: Int64) -> StoredSteps {
        disk.model.withLock { model in
            var stored = StoredSteps()
            for step in steps { stored.results.append(model.store(step, &stored.cancelled, at: now)) }
            return stored
        }
    }

    func recallSessions(dueAfter time: Int64, at now: Int64, limit: Int) -> Int {
        disk.model.withLock { $0.surfaces.recall(dueAfter: time, at: now, limit: limit) }
    }

    func endSurfaces(withdrawnBefore time: Int64, at now: Int64, limit: Int) -> Int {
        disk.model.withLock { $0.surfaces.end(withdrawnBefore: time, at: now, limit: limit) }
    }
}
