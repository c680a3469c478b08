// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletOutbox

/// A model of the surfaces, which each engine has to agree with.
struct SurfaceModel: Sendable {
    private var surfaces: [StoredSurface] = []
    /// In the order of their numbers.
    private(set) var sessions: [StoredSession] = []
    /// The numbers of the sessions that are not reachable.
    private var unreachable: Set<Int64> = []
    /// The installations with an event, each with the number of its event.
    private var events: [Int64: Int64] = [:]
    private var lastSurface: Int64 = 0
    private var lastSession: Int64 = 0
    private var lastEvent: Int64 = 0

    // MARK: Surfaces

    private func index(_ id: String, of app: String) -> Int? {
        surfaces.firstIndex { $0.surface.id == id && $0.surface.app == app }
    }

    func surface(_ id: String, of app: String) -> StoredSurface? { index(id, of: app).map { surfaces[$0] } }

    func surface(_ number: Int64) -> StoredSurface? { surfaces.first { $0.number == number } }

    mutating func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) -> SurfaceChange {
        let index = index(surface.id, of: surface.app)
        let stored = index.map { surfaces[$0] }
        guard condition.allows(stored) else { return .refused(stored) }
        if let stored, stored.shows(surface) { return .unchanged(stored) }
        let shown = surfaces.filter { $0.surface.app == surface.app && $0.withdrawnAt == nil }
        let other = shown.first { $0.surface.id != surface.id && $0.surface.channel == surface.channel }
        if surface.channel != nil, let other { return .channelInUse(by: other.surface.id) }
        let isShown = shown.contains { $0.surface.id == surface.id }
        guard isShown || shown.count < limit else { return .full }
        guard let index else {
            lastSurface += 1
            let new = StoredSurface(number: lastSurface, revision: 1, surface: surface, createdAt: now, changedAt: now)
            surfaces.append(new)
            return .changed(new)
        }
        surfaces[index].surface = surface
        surfaces[index].withdrawnAt = nil
        return .changed(change(index, at: now))
    }

    private mutating func change(_ index: Int, at now: Int64) -> StoredSurface {
        surfaces[index].revision += 1
        surfaces[index].changedAt = now
        surfaces[index].cursor = 0
        return surfaces[index]
    }

    mutating func withdraw(
        _ id: String,
        of app: String,
        if condition: SurfacePrecondition,
        at now: Int64
    ) -> SurfaceChange {
        guard let index = index(id, of: app) else { return .refused(nil) }
        guard condition.allows(surfaces[index]) else { return .refused(surfaces[index]) }
        guard surfaces[index].withdrawnAt == nil else { return .unchanged(surfaces[index]) }
        surfaces[index].withdrawnAt = now
        return .changed(change(index, at: now))
    }

    mutating func removeUser(_ user: String, with installations: [InstallationID], of app: String, at now: Int64) {
        var emptied: Set<Int64> = []
        for index in surfaces.indices where surfaces[index].surface.app == app {
            var others: [String] = []
            switch surfaces[index].surface.audience {
            case .users(let users):
                others = users.filter { !$0.utf8.elementsEqual(user.utf8) }
                guard others.count < users.count else { continue }
            case .installation(let id): guard installations.contains(id) else { continue }
            case .matching: continue
            }
            surfaces[index].surface.audience = .users(others)
            guard others.isEmpty else { continue }
            emptied.insert(surfaces[index].number)
            (surfaces[index].surface.request, surfaces[index].surface.fingerprint) = ([], [])
            guard surfaces[index].withdrawnAt == nil else { continue }
            surfaces[index].withdrawnAt = now
            _ = change(index, at: now)
        }
        let inUse = Set(sessions.map(\.surface))
        surfaces.removeAll { emptied.contains($0.number) && !inUse.contains($0.number) }
    }

    func surfaces(of app: String, after number: Int64, limit: Int) -> [StoredSurface] {
        Array(surfaces.filter { $0.surface.app == app && $0.number > number }.prefix(limit))
    }

    func surfacesWithChannel(of app: String, after channel: String, limit: Int) -> [StoredSurface] {
        let found = surfaces.filter { stored in
            guard let own = stored.surface.channel, stored.withdrawnAt == nil else { return false }
            return stored.surface.app == app && own > channel
        }
        return Array(found.sorted { $0.surface.channel ?? "" < $1.surface.channel ?? "" }.prefix(limit))
    }

    /// The number of surfaces that are not withdrawn, of each app that has some.
    var counts: [String: Int] {
        Dictionary(surfaces.filter { $0.withdrawnAt == nil }.map { ($0.surface.app, 1) }, uniquingKeysWith: +)
    }

    func surfaces(for user: String, _ installation: InstallationID, of app: String) -> [StoredSurface] {
        let found = surfaces.filter { stored in
            guard stored.surface.app == app, stored.withdrawnAt == nil else { return false }
            return switch stored.surface.audience {
            case .users(let users): users.contains { $0.utf8.elementsEqual(user.utf8) }
            case .installation(let id): id == installation
            case .matching: false
            }
        }
        return found.map(\.withoutContent)
    }

    func surfacesWithExpression(of app: String) -> [StoredSurface] {
        let found = surfaces.filter { stored in
            guard case .matching = stored.surface.audience else { return false }
            return stored.surface.app == app && stored.withdrawnAt == nil
        }
        return found.map(\.withoutContent)
    }

    func surfaces(on installation: Int64, limit: Int) -> [StoredSurface] {
        let shown = Set(sessions.filter { $0.installation == installation && $0.revision > 0 }.map(\.surface))
        let found = surfaces.filter { shown.contains($0.number) && $0.withdrawnAt == nil }
        return Array(found.sorted { ($0.changedAt, $0.number) > ($1.changedAt, $1.number) }.prefix(limit))
    }

    func unfinished(limit: Int) -> [StoredSurface] {
        let unfinished = surfaces.filter { $0.cursor != nil }
        return unfinished.turns(of: \.surface.app, by: { ($0.changedAt, $0.number) }, limit: limit)
    }

    mutating func end(withdrawnBefore time: Int64, at now: Int64, limit: Int) -> Int {
        func first(_ count: Int, where date: (StoredSurface) -> Int64?) -> [Int64] {
            let found = surfaces.compactMap { stored in date(stored).map { ($0, stored.number) } }
            return found.sorted { $0 < $1 }.prefix(count).map(\.1)
        }
        let ended = first(limit) { stored in
            stored.withdrawnAt == nil ? stored.surface.endsAt.flatMap { $0 <= now ? $0 : nil } : nil
        }
        for index in surfaces.indices where ended.contains(surfaces[index].number) {
            surfaces[index].withdrawnAt = now
            _ = change(index, at: now)
        }
        let inUse = Set(sessions.map(\.surface))
        let old = first(limit - ended.count) { stored in
            inUse.contains(stored.number) ? nil : stored.withdrawnAt.flatMap { $0 < time ? $0 : nil }
        }
        surfaces.removeAll { old.contains($0.number) }
        return ended.count + old.count
    }

    // MARK: Sessions

    mutating func recall(dueAfter time: Int64, at now: Int64, limit: Int) -> Int {
        let late = sessions.indices.filter { index in sessions[index].dueAt.map { $0 > time } ?? false }.prefix(limit)
        for index in late { sessions[index].dueAt = now }
        return late.count
    }

    private mutating func markDue(_ index: Int, at now: Int64) {
        sessions[index].dueAt = min(sessions[index].dueAt ?? now, now)
        sessions[index].version += 1
    }

    private mutating func addSession(of surface: Int64, on installation: Int64, revision: Int64, at now: Int64) {
        lastSession += 1
        sessions.append(
            StoredSession(
                number: lastSession,
                surface: surface,
                installation: installation,
                revision: revision,
                dueAt: now
            )
        )
    }

    /// Stores that an installation is in the audience of a surface.
    private mutating func join(_ surface: StoredSurface, _ installation: Int64, at now: Int64, later delay: Int64 = 0) {
        let index = sessions.firstIndex { $0.surface == surface.number && $0.installation == installation }
        guard let index else {
            addSession(of: surface.number, on: installation, revision: surface.revision, at: now)
            return
        }
        sessions[index].revision = surface.revision
        markDue(index, at: unreachable.contains(sessions[index].number) ? now + delay : now)
    }

    /// Stores that installations have left the audience of a surface.
    private mutating func leave(at now: Int64, where isLeaving: (StoredSession) -> Bool) {
        for index in sessions.indices where isLeaving(sessions[index]) {
            sessions[index].revision = 0
            markDue(index, at: now)
        }
    }

    /// Stores a page; `installations` are those of the page that exist.
    mutating func store(_ page: SurfacePage, _ installations: [Int64], at now: Int64) -> Bool {
        let index = surfaces.firstIndex {
            $0.number == page.surface && $0.revision == page.revision && $0.cursor == page.cursor
        }
        guard let index else { return false }
        surfaces[index].cursor = page.next
        for installation in installations {
            join(surfaces[index], installation, at: now, later: page.isOneOfSeveral ? SurfacePage.unreachableDelay : 0)
            if events[installation] != nil { record(installation) }
        }
        if page.next == nil {
            leave(at: now) { $0.surface == page.surface && $0.revision != 0 && $0.revision != page.revision }
        }
        return true
    }

    mutating func store(_ membership: SurfaceMembership, at now: Int64) {
        let (event, read) = (membership.event, membership.surfaces)
        let installation = event.installation.number
        guard events[installation] == event.number else { return }
        events[installation] = nil
        for old in read {
            guard let surface = surface(old.number), surface.revision == old.revision else { continue }
            join(surface, installation, at: now)
        }
        let (current, named) = (surfaces, Set(read.map(\.number)))
        leave(at: now) { session in
            session.installation == installation && !named.contains(session.surface)
                && current.contains { $0.number == session.surface && $0.revision == session.revision }
        }
        for shown in membership.shown where surface(shown.number) != nil {
            let isKnown = sessions.contains { $0.surface == shown.number && $0.installation == installation }
            if !isKnown { addSession(of: shown.number, on: installation, revision: 0, at: now) }
        }
    }

    /// The events: their numbers, and those of their installations.
    var allEvents: [(number: Int64, installation: Int64)] { events.map { (number: $0.value, installation: $0.key) } }

    private mutating func record(_ installation: Int64) {
        lastEvent += 1
        events[installation] = lastEvent
    }

    /// Records the differences between the installations before and after a change.
    mutating func recordChanges(from before: [StoredInstallation], to after: [StoredInstallation]) {
        let kept = Set(after.map(\.number))
        sessions.removeAll { !kept.contains($0.installation) }
        events = events.filter { kept.contains($0.key) }
        let old = Dictionary(before.map { ($0.number, $0.installation) }) { first, _ in first }
        for stored in after {
            if let installation = old[stored.number], installation.hasSameContentAndUser(as: stored.installation) {
                continue
            }
            for index in sessions.indices where sessions[index].installation == stored.number {
                markDue(index, at: stored.installation.changedAt)
            }
            if surfaces.contains(where: { $0.surface.app == stored.installation.app }) { record(stored.number) }
        }
    }

    // MARK: Steps

    mutating func add(_ result: SessionResult, to session: Int64) {
        guard let index = sessions.firstIndex(where: { $0.number == session }) else { return }
        sessions[index].results.append(result)
        sessions[index].dueAt = min(sessions[index].dueAt ?? result.endedAt, result.dueAt)
        sessions[index].version += 1
    }

    /// Changes the session of a step; returns whether it had the version of the step.
    mutating func change(by step: SessionStep) -> Bool {
        let index = sessions.firstIndex { $0.number == step.session && $0.version == step.version }
        guard let index else { return false }
        sessions[index].state = step.state
        sessions[index].results = []
        sessions[index].dueAt = step.dueAt
        sessions[index].version += 1
        if step.isReachable { unreachable.remove(step.session) } else { unreachable.insert(step.session) }
        return true
    }

    mutating func remove(_ session: Int64) { sessions.removeAll { $0.number == session } }
}

extension StoredSurface {
    /// The surface with an empty request and fingerprint.
    package var withoutContent: StoredSurface {
        var stored = self
        (stored.surface.request, stored.surface.fingerprint) = ([], [])
        return stored
    }
}

extension Installation {
    /// Whether another state of this installation differs at most in the times of reports.
    fileprivate func hasSameContentAndUser(as other: Installation) -> Bool {
        user.utf8.elementsEqual(other.user.utf8) && environment == other.environment && bundleID == other.bundleID
            && attributes == other.attributes && permissions == other.permissions && tags == other.tags
            && activities == other.activities && tokens.mapValues(\.token) == other.tokens.mapValues(\.token)
    }
}

extension OutboxModel {
    /// Changes the installations, and records the differences for the surfaces.
    mutating func changeInstallations<Value>(_ body: (inout InstallationModel) -> Value) -> Value {
        let before = installations.all
        let value = body(&installations)
        surfaces.recordChanges(from: before, to: installations.all)
        return value
    }

    mutating func store(_ step: SessionStep, _ cancelled: inout [PushStatus], at now: Int64) -> SessionStepResult {
        guard step.pushes.isEmpty || step.pushes.count <= limit - rows.count else { return .full }
        let session = surfaces.sessions.first { $0.number == step.session }
        guard surfaces.change(by: step) else { return .outdated }
        let app = session.flatMap { surfaces.surface($0.surface) }?.surface.app ?? ""
        for id in step.cancelled {
            guard let number = numbers[Name(app: app, id: id)], claimed[number] == nil,
                rows[number]?.push.session == step.session
            else { continue }
            end(number, Outcome(.cancelled), at: now)
            if let status = status(of: id, of: app) { cancelled.append(status) }
        }
        for (push, answer) in zip(step.pushes.map(\.push), accept(step.pushes.map(\.push), at: now)) {
            guard !answer.isStored else { continue }
            let result = SessionResult(id: push.id, state: .cancelled, status: nil, endedAt: now)
            surfaces.add(result, to: step.session)
        }
        if step.isFinished { surfaces.remove(step.session) }
        return .stored
    }

    /// The surface and the installation of a push; nil for a push without a session.
    func place(of id: APNsID, of app: String) -> SessionPlace? {
        let name = Name(app: app, id: id)
        let push = ends[name]?.push ?? numbers[name].flatMap { rows[$0]?.push }
        return push?.session.flatMap { session in sessions { $0.number == session }.first?.place }
    }

    /// The sessions that a condition selects, with their surfaces and installations.
    func sessions(where isSelected: (StoredSession) -> Bool) -> [DueSession] {
        surfaces.sessions.filter(isSelected).compactMap { session in
            guard let surface = surfaces.surface(session.surface),
                let installation = installations.installation(session.installation)
            else { return nil }
            return DueSession(session: session, surface: surface, installation: installation)
        }
    }
}

extension Array {
    /// Returns elements of which apps take turns, in the order of the turns.
    ///
    /// An app gives its oldest element, its newest one, the next oldest one and so on. Of elements with the same turn
    /// the oldest one is first.
    func turns(
        of app: (Element) -> String,
        by time: (Element) -> (Int64, Int64),
        limit: Int
    ) -> [Element] {
        var turns: [(turn: Int, element: Element)] = []
        for elements in Dictionary(grouping: self, by: app).values {
            var rest = elements.sorted { time($0) < time($1) }[...]
            for turn in elements.indices {
                guard let element = turn % 2 == 0 ? rest.popFirst() : rest.popLast() else { break }
                turns.append((turn, element))
            }
        }
        turns.sort { $0.turn == $1.turn ? time($0.element) < time($1.element) : $0.turn < $1.turn }
        return turns.prefix(limit).map(\.element)
    }
}
