// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

extension Surface {
    /// A surface by its number, with default values for other members.
    static func numbered(
        _ number: Int,
        app: String = "orders",
        to audience: SurfaceAudience = .users(["anna"]),
        request: String = #"{"order":1}"#,
        endsAt: Int64? = nil,
        channel: String? = nil
    ) -> Surface {
        Surface(
            app: app,
            id: "order-\(number)",
            caller: "shop",
            audience: audience,
            request: Array(request.utf8),
            fingerprint: Array(request.utf8.suffix(16)),
            endsAt: endsAt,
            channel: channel
        )
    }
}

extension SurfaceStore {
    /// Stores a surface that changes something.
    @discardableResult
    func putNew(_ surface: Surface, at now: Int64 = 10) async throws -> StoredSurface {
        let change = try await put(surface, if: .none, limit: 1_000, at: now)
        guard case .changed(let stored) = change else { throw UnexpectedChange(change: change) }
        return stored
    }

    /// The surface as it is stored now.
    func current(_ stored: StoredSurface) async throws -> StoredSurface {
        try #require(try await surface(stored.surface.id, of: stored.surface.app))
    }

    /// Stores the last page of a surface with these installations, and returns whether it is stored.
    func finish(_ stored: StoredSurface, on phones: [StoredInstallation], at now: Int64 = 10) async throws -> Bool {
        let page = SurfacePage(of: try await current(stored), next: nil, installations: phones.map(\.number))
        return try await store(page, at: now)
    }

    /// Stores a page, and returns whether it is stored.
    func store(_ page: SurfacePage, at now: Int64) async throws -> Bool {
        try await store([page], at: now) == [true]
    }

    /// Stores the sessions of the installation of an event.
    func store(_ surfaces: [StoredSurface], for event: InstallationEvent, at now: Int64) async throws {
        try await store([SurfaceMembership(of: event, in: surfaces)], at: now)
    }

    /// The sessions of a surface as they are stored now.
    func sessions(of stored: StoredSurface) async throws -> [DueSession] {
        try await sessions(of: try await current(stored), after: 0, limit: 1_000)
    }

    /// The session of a surface that one installation has.
    func session(of stored: StoredSurface) async throws -> DueSession {
        let found = try await sessions(of: stored)
        try #require(found.count == 1)
        return found[0]
    }

    /// The only event.
    func event() async throws -> InstallationEvent {
        let found = try await installationEvents(limit: 9)
        try #require(found.count == 1)
        return found[0]
    }

    /// Stores a step of a session.
    func store(
        _ due: DueSession,
        state: String = "{}",
        dueAt: Int64? = nil,
        isReachable: Bool = true,
        isFinished: Bool = false,
        cancelled: [APNsID] = [],
        pushes: [OutboxPush] = [],
        at now: Int64 = 10
    ) async throws -> SessionStepResult? {
        let step = SessionStep(
            of: due,
            state: Array(state.utf8),
            dueAt: dueAt,
            isReachable: isReachable,
            isFinished: isFinished,
            cancelled: cancelled,
            pushes: pushes
        )
        return try await store([step], at: now).results.first
    }

    /// Stores steps of all sessions that are due, so that they wait for a change, and removes the events.
    func rest(at now: Int64 = 10) async throws {
        for due in try await dueSessions(at: .max, limit: 1_000) { _ = try await store(due, at: now) }
        for event in try await installationEvents(limit: 1_000) {
            let id = event.installation.installation.id
            let (user, app) = (event.installation.installation.user, event.installation.installation.app)
            var surfaces = try await surfaces(for: user, id, of: app)
            surfaces += try await surfacesWithExpression(of: app).filter { stored in
                guard case .matching(let expression) = stored.surface.audience else { return false }
                return expression.matches(event.installation.installation)
            }
            try await store(surfaces, for: event, at: now)
        }
        for due in try await dueSessions(at: .max, limit: 1_000) { _ = try await store(due, at: now) }
    }
}

extension InstallationStore {
    /// Enrolls an installation, which must succeed.
    func add(_ installation: Installation) async throws -> StoredInstallation {
        try #require(try await enroll(installation))
    }

    /// Changes an installation as a report of its app does, and returns what is stored.
    @discardableResult
    func change(
        _ phone: StoredInstallation,
        at now: Int64 = 200,
        _ body: (inout InstallationChange) throws -> Void
    ) async throws -> StoredInstallation {
        let (id, app) = (phone.installation.id, phone.installation.app)
        let stored = try #require(try await installation(id, of: app))
        var change = InstallationChange()
        try body(&change)
        var new = stored.installation
        try new.apply(change, at: now, by: .app)
        try #require(try await replace(stored, with: new))
        return try #require(try await installation(id, of: app))
    }
}

private struct UnexpectedChange: Error {
    let change: SurfaceChange
}
