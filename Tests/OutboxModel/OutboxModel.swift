// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletOutbox

/// A model of an outbox: a value that engines are compared with, and that the simulation
/// of the relay keeps its pushes in.
package struct OutboxModel: Sendable {
    struct Row: Sendable {
        var push: OutboxPush
        var acceptedAt: Int64
        /// Nil while it waits behind others.
        var readyAt: Int64?
        var isInLine: Bool
        var attempts = 0
        var unknownTries = 0
        var history = AttemptHistory()
        /// The user that the push was sent to, or whose installation had the token when it was accepted.
        var user: String?
    }

    struct Name: Hashable, Sendable {
        var app: String
        var id: APNsID
    }

    struct End: Sendable {
        var push: OutboxPush
        var acceptedAt: Int64
        var outcome: Outcome
        var at: Int64
        var history: AttemptHistory
        var number: Int64
        var user: String?

        func isDeadLetter(of app: String) -> Bool { push.lane.app == app && outcome.state == .dead }
    }

    var rows: [Int64: Row] = [:]
    var numbers: [Name: Int64] = [:]
    var ends: [Name: End] = [:]
    private var dead: [UnregisteredToken] = []
    private var deadOwners: [Int64: String] = [:]
    private var lastCursor: Int64 = 0
    package var readers: [String: Int64] = [:]
    /// The stored problems of relays by name, with the times at which they were stored.
    var problems: [String: (text: String, storedAt: Int64)] = [:]
    private var nextNumber: Int64 = 1
    /// The number of the push that was accepted last.
    var lastNumber: Int64 { nextNumber - 1 }
    private var pauses: [Lane: LanePause] = [:]
    /// The numbers of pushes that are claimed and not settled, each with the number of its claim.
    private(set) var claimed: [Int64: Int64] = [:]
    private var lastClaim: Int64 = 0
    var installations = InstallationModel()
    var jobs = JobModel()
    var surfaces = SurfaceModel()
    var alerts = AlertModel()
    /// Pushes that may wait at once.
    package var limit = Int.max

    package init() {}

    /// Ends the process, in order or by a crash, and keeps the stored state.
    package mutating func restart(inOrder: Bool) {
        // Claimed pushes may have been sent.
        if !inOrder { for number in claimed.keys { rows[number]?.unknownTries += 1 } }
        claimed = [:]
    }

    package var liveCount: Int { rows.count }

    /// The outcomes of the pushes that have ended.
    package var outcomes: [APNsID: Outcome] {
        Dictionary(ends.map { ($0.key.id, $0.value.outcome) }) { first, _ in first }
    }

    package mutating func accept(_ pushes: [OutboxPush], at now: Int64) -> [Acceptance] {
        pushes.map { accept($0, at: now) }
    }

    package func conflicts(with pushes: [OutboxPush]) -> Set<Int> {
        var copy = self
        return Set(copy.accept(pushes, at: 0).enumerated().filter { $0.element == .conflict }.map(\.offset))
    }

    private mutating func accept(_ push: OutboxPush, at now: Int64) -> Acceptance {
        let name = Name(app: push.lane.app, id: push.id)
        if push.hasCallersID, let status = known(push.id, of: push.lane.app) {
            let first = numbers[name].flatMap { rows[$0]?.push } ?? ends[name]?.push
            return first?.isSame(as: push) == true ? .duplicate(status) : .conflict
        }
        if case .device(let token) = push.destination,
            let found = dead.first(where: { isRecord($0, of: token, push) })
        {
            return .suppressed(found)
        }
        if push.job != nil || push.session != nil, status(of: push.id, of: push.lane.app) != nil { return .conflict }
        if let user = push.user, owner(of: push)?.utf8.elementsEqual(user.utf8) != true { return .formerUser }
        guard rows.count < limit else { return .full }
        guard countAlert(of: push, at: now) else { return .limited }
        let superseded = supersedeOlder(than: push, at: now)
        let isScheduled = push.notBefore.map { $0 > now } ?? false
        let mustWait = !isScheduled && push.orderKey.map { hasOthers(in: push.lane, $0) } ?? false
        var stored = push
        stored.supersedes = false
        rows[nextNumber] = Row(
            push: stored,
            acceptedAt: now,
            readyAt: mustWait ? nil : isScheduled ? push.notBefore : now,
            isInLine: push.orderKey != nil && !isScheduled,
            user: push.user ?? owner(of: push)
        )
        numbers[name] = nextNumber
        nextNumber += 1
        return superseded.isEmpty ? .accepted : .superseding(superseded)
    }

    /// Whether a record of an unregistered token is about a push to it.
    private func isRecord(_ record: UnregisteredToken, of token: DeviceToken, _ push: OutboxPush) -> Bool {
        record.token == token && deadOwners[record.cursor] == push.lane.app
            && record.environment == push.lane.environment && record.topic == push.headers.topic ?? ""
    }

    private func hasOthers(in lane: Lane, _ key: String) -> Bool {
        rows.values.contains { $0.isInLine && $0.push.lane == lane && $0.push.orderKey == key }
    }

    package mutating func claim(_ lane: Lane, _ urgency: Urgency, limit: Int, at now: Int64) -> Claim {
        func isOfQueue(_ row: Row) -> Bool { row.push.lane == lane && row.push.urgency == urgency }
        let due = rows.filter { number, row in
            isOfQueue(row) && claimed[number] == nil && row.readyAt.map { $0 <= now } ?? false
        }
        .sorted { ($0.value.readyAt ?? 0, $0.key) < ($1.value.readyAt ?? 0, $1.key) }
        lastClaim += 1
        var pushes: [ClaimedPush] = []
        for (number, row) in due.prefix(limit) {
            if let key = row.push.orderKey, !row.isInLine {
                let mustWait = hasOthers(in: lane, key)
                rows[number]?.isInLine = true
                if mustWait {
                    rows[number]?.readyAt = nil
                    continue
                }
            }
            claimed[number] = lastClaim
            var push = ClaimedPush(
                number: number,
                push: row.push,
                acceptedAt: row.acceptedAt,
                readyAt: row.readyAt,
                attempts: row.attempts,
                unknownTries: row.unknownTries,
                history: row.history,
                hasFormerUser: hasFormerUser(row)
            )
            push.claim = lastClaim
            pushes.append(push)
        }
        let rest = rows.filter { isOfQueue($0.value) && claimed[$0.key] == nil }
        return Claim(pushes: pushes, nextDue: rest.compactMap(\.value.readyAt).min())
    }

    package mutating func settle(_ settlements: [Settlement], at now: Int64) {
        for settlement in settlements {
            guard claimed[settlement.number] == settlement.claim else { continue }
            claimed[settlement.number] = nil
            if !settlement.history.isEmpty { rows[settlement.number]?.history = settlement.history }
            switch settlement.change {
            case .ended(let outcome):
                end(settlement.number, outcome, isTokenUnregistered: settlement.isTokenUnregistered, at: now)
            case .postponed(let time, let attempts, let unknownTries):
                rows[settlement.number]?.readyAt = time
                rows[settlement.number]?.attempts = attempts
                rows[settlement.number]?.unknownTries = unknownTries
            }
        }
    }

    mutating func end(_ number: Int64, _ outcome: Outcome, isTokenUnregistered: Bool = false, at now: Int64) {
        guard let row = rows.removeValue(forKey: number) else { return }
        if let job = row.push.job { jobs.count(1, outcome.state, of: job, at: now) }
        if let session = row.push.session {
            let result = SessionResult(id: row.push.id, state: outcome.state, status: outcome.status, endedAt: now)
            surfaces.add(result, to: session)
        }
        let name = Name(app: row.push.lane.app, id: row.push.id)
        // The caller may not know the earlier attempts.
        var outcome = outcome
        outcome.attempts = max(outcome.attempts, row.attempts)
        outcome.unknownTries = max(outcome.unknownTries, row.unknownTries)
        ends[name] = End(
            push: row.push,
            acceptedAt: row.acceptedAt,
            outcome: outcome,
            at: now,
            history: row.history,
            number: number,
            user: row.user
        )
        numbers[name] = nil
        // A push that waits for its order key or its time does not delay others.
        if let key = row.push.orderKey, row.isInLine, row.readyAt != nil {
            let line = rows.filter {
                $0.value.isInLine && $0.value.push.lane == row.push.lane && $0.value.push.orderKey == key
            }
            if let next = line.keys.min() { rows[next]?.readyAt = now }
        }
        if isTokenUnregistered, case .device(let token) = row.push.destination {
            let lane = row.push.lane
            guard !changeInstallations({ $0.unregister(token, in: lane, before: number) }) else { return }
            dead = dead.filter { !isRecord($0, of: token, row.push) }
            lastCursor += 1
            deadOwners[lastCursor] = name.app
            dead.append(
                UnregisteredToken(
                    cursor: lastCursor,
                    token: token,
                    environment: row.push.lane.environment,
                    topic: row.push.headers.topic ?? "",
                    unregisteredAt: outcome.unregisteredAt,
                    reportedAt: now,
                    reason: outcome.reason ?? ""
                )
            )
        }
    }

    package mutating func cancel(_ id: APNsID, of app: String, at now: Int64) -> PushStatus? {
        let status = status(of: id, of: app)
        guard status?.state == .accepted, let number = numbers[Name(app: app, id: id)] else { return status }
        end(number, Outcome(.cancelled), at: now)
        return self.status(of: id, of: app)
    }

    package func status(of id: APNsID, of app: String) -> PushStatus? {
        var status = known(id, of: app)
        if status?.state == .accepted { status?.dueAt = numbers[Name(app: app, id: id)].flatMap { rows[$0]?.readyAt } }
        return status
    }

    /// Returns the status of a push, without the time at which it is due.
    func known(_ id: APNsID, of app: String) -> PushStatus? {
        let name = Name(app: app, id: id)
        if let end = ends[name] {
            let state = PushStatus.State.ended(end.outcome, at: end.at)
            return PushStatus(
                id: id,
                lane: end.push.lane,
                acceptedAt: end.acceptedAt,
                state: state,
                history: end.history
            )
        }
        guard let number = numbers[name], let row = rows[number] else { return nil }
        let state: PushStatus.State = claimed[number] != nil ? .inFlight : .accepted
        return PushStatus(id: id, lane: row.push.lane, acceptedAt: row.acceptedAt, state: state, history: row.history)
    }

    package mutating func expire(at now: Int64, limit: Int) -> [PushStatus] {
        let old = rows.filter { number, row in
            claimed[number] == nil && row.push.expiresAt.map { $0 <= now } ?? false
        }
        .sorted { $0.key < $1.key }.prefix(limit)
        for (number, _) in old { end(number, Outcome(.expired), at: now) }
        return old.compactMap { status(of: $0.value.push.id, of: $0.value.push.lane.app) }
    }

    package mutating func forgetOutcomes(before time: Int64, limit: Int) -> Int {
        let old = ends.filter { $0.value.at < time }.prefix(limit)
        for (name, _) in old { ends[name] = nil }
        return old.count
    }

    package func backlog() -> [Backlog] {
        Dictionary(grouping: rows.values, by: \.push.lane).map { lane, rows in
            let retries = rows.filter { $0.attempts > 0 }
            return Backlog(
                lane: lane,
                count: rows.count,
                oldest: rows.compactMap(\.readyAt).min(),
                retrying: retries.count,
                oldestRetry: retries.map(\.acceptedAt).min(),
                blocked: rows.count { $0.readyAt == nil }
            )
        }
    }

    package func unregisteredTokens(of app: String, after cursor: Int64, limit: Int) -> [UnregisteredToken] {
        Array(dead.filter { $0.cursor > cursor && deadOwners[$0.cursor] == app }.prefix(limit))
    }

    package mutating func markRegistered(_ token: DeviceToken, of app: String) -> Bool {
        let count = dead.count
        dead.removeAll { $0.token == token && deadOwners[$0.cursor] == app }
        return dead.count < count
    }

    /// Whether a token has a record that it is unregistered, for any topic.
    func isUnregistered(_ token: DeviceToken, _ environment: PushEnvironment, of app: String) -> Bool {
        dead.contains { $0.token == token && $0.environment == environment && deadOwners[$0.cursor] == app }
    }

    package var allPauses: [LanePause] { Array(pauses.values) }

    package mutating func pause(_ lane: Lane, by caller: String, at now: Int64) -> LanePause {
        let pause = pauses[lane] ?? LanePause(lane: lane, since: now, caller: caller)
        pauses[lane] = pause
        return pause
    }

    package mutating func resume(_ lane: Lane) -> Bool { pauses.removeValue(forKey: lane) != nil }

    package mutating func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) -> PurgedPushes {
        let last = last ?? nextNumber - 1
        let waiting = rows.filter { $0.value.push.lane == lane && claimed[$0.key] == nil && $0.key <= last }
        let purged = waiting.sorted { $0.key < $1.key }.prefix(limit)
        for (number, _) in purged { end(number, Outcome(.cancelled), at: now) }
        return PurgedPushes(pushes: purged.compactMap { status(of: $0.value.push.id, of: lane.app) }, last: last)
    }

    package func pushes(to token: DeviceToken, of app: String, after cursor: Int64, limit: Int) -> [FoundPush] {
        let live = rows.filter { $0.value.push.lane.app == app && $0.value.push.destination == .device(token) }
        let letters = ends.values.filter { $0.isDeadLetter(of: app) && $0.push.destination == .device(token) }
        return page(Array(live), letters, of: app, after: cursor, limit: limit)
    }

    package func pushes(
        _ selection: PushSelection,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) -> FoundPushes {
        let live = rows.filter { $0.value.push.lane.app == app && selection.has($0.value.push, of: $0.value.user) }
        let letters = ends.values.filter { $0.isDeadLetter(of: app) && selection.has($0.push, of: $0.user) }
        let entries = page(Array(live), letters, of: app, after: cursor, limit: limit)
        var found = FoundPushes()
        found.pushes = entries.map(\.status)
        if entries.count == limit { found.next = entries.last?.number }
        return found
    }

    private func page(
        _ live: [(key: Int64, value: Row)],
        _ letters: [End],
        of app: String,
        after cursor: Int64,
        limit: Int
    ) -> [FoundPush] {
        let names =
            live.map { (number: $0.key, id: $0.value.push.id) }
            + letters.map { (number: $0.number, id: $0.push.id) }
        return names.filter { $0.number > cursor }.sorted { $0.number < $1.number }.prefix(limit).compactMap { name in
            status(of: name.id, of: app).map { FoundPush(number: name.number, status: $0) }
        }
    }
}

extension OutboxPush {
    /// Whether a push with the same identifier is this one, sent again.
    fileprivate func isSame(as other: OutboxPush) -> Bool {
        var first = self
        first.alertLimit = other.alertLimit
        first.supersedes = other.supersedes
        // A phone of a user may have another token and another environment.
        if user != nil { (first.lane, first.destination) = (other.lane, other.destination) }
        guard let sourceRequest else { return first == other }
        return first.lane == other.lane && first.destination == other.destination && user == other.user
            && sourceRequest == other.sourceRequest
    }
}
