// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A model of the installations, which each engine has to agree with.
struct InstallationModel: Sendable {
    private struct Entry {
        var stored: StoredInstallation
        /// The hash of the secret; nil for an imported installation.
        var secret: [UInt8]?
        /// The numbers of the last pushes before the registrations.
        var lastPushes: [Installation.TokenSlot: Int64]
    }

    private var tickets: [[UInt8]: EnrollmentTicket] = [:]
    private var entries: [Entry] = []
    private var lastNumber: Int64 = 0

    /// All installations in the order of their numbers.
    var all: [StoredInstallation] { entries.map(\.stored) }

    func installation(_ number: Int64) -> StoredInstallation? { all.first { $0.number == number } }

    mutating func add(_ ticket: EnrollmentTicket) { tickets[ticket.hash] = ticket }

    func ticket(_ hash: [UInt8], at now: Int64) -> EnrollmentTicket? {
        tickets[hash].flatMap { $0.expiresAt > now ? $0 : nil }
    }

    /// Enrolls after a push; returns the tokens that are registered now, or nil without a valid ticket.
    mutating func enroll(_ enrollment: Enrollment, after push: Int64, at now: Int64) -> [DeviceToken]? {
        let new = enrollment.installation
        guard let ticket = ticket(enrollment.ticketHash, at: now), ticket.app == new.app, new.isOf(ticket.user) else {
            return nil
        }
        if ticket.isSingleUse { tickets[ticket.hash] = nil }
        if let replaced = enrollment.replacedSecretHash {
            entries.removeAll { $0.secret == replaced && $0.stored.installation.app == new.app }
        }
        lastNumber += 1
        takeTokens(of: new, besides: lastNumber)
        let stored = StoredInstallation(number: lastNumber, revision: 1, installation: new)
        let pushes = new.tokens.mapValues { _ in push }
        entries.append(Entry(stored: stored, secret: enrollment.secretHash, lastPushes: pushes))
        let others = entries.map(\.stored).filter {
            $0.number != lastNumber && $0.installation.app == new.app && $0.installation.isOf(new.user)
        }
        let recent = others.sorted { ($0.installation.seenAt, $0.number) > ($1.installation.seenAt, $1.number) }
        let surplus = Set(recent.dropFirst(Installation.limitPerUser - 1).map(\.number))
        entries.removeAll { surplus.contains($0.stored.number) }
        return new.tokens.values.map(\.token)
    }

    /// Takes the tokens of an installation from the others of its app, and removes emptied imports.
    private mutating func takeTokens(of new: Installation, besides number: Int64) {
        let losers = takeTokensKeepingImports(of: new, besides: number)
        removeEmptiedImports(losers)
    }

    /// Takes the tokens of an installation from the others of its app, and returns the numbers of those.
    private mutating func takeTokensKeepingImports(of new: Installation, besides number: Int64) -> Set<Int64> {
        let tokens = Set(new.tokens.values.map(\.token))
        var losers: Set<Int64> = []
        for index in entries.indices where entries[index].stored.number != number {
            guard entries[index].stored.installation.app == new.app else { continue }
            let rest = entries[index].stored.installation.tokens.filter { !tokens.contains($0.value.token) }
            guard rest.count < entries[index].stored.installation.tokens.count else { continue }
            entries[index].stored.installation.tokens = rest
            losers.insert(entries[index].stored.number)
        }
        return losers
    }

    private mutating func removeEmptiedImports(_ numbers: Set<Int64>) {
        entries.removeAll {
            numbers.contains($0.stored.number) && $0.secret == nil && $0.stored.installation.tokens.isEmpty
        }
    }

    /// Imports a page after a push.
    mutating func importPage(
        _ page: [Installation],
        of app: String,
        after push: Int64,
        at now: Int64,
        isUnregistered: (DeviceToken, PushEnvironment) -> Bool
    ) -> [ImportResult] {
        var results: [ImportResult] = []
        var writes: [Installation] = []
        var newUsers: [[UInt8]] = []
        for new in page {
            let result = importResult(of: new, app, newUsers, isUnregistered)
            results.append(result)
            guard result == .added || result == .changed else { continue }
            var write = new
            write.tokens = new.tokens.filter { isFree($0.value.token, of: new, isUnregistered) }
            writes.append(write)
            if entry(new.id)?.stored.installation.isOf(new.user) != true { newUsers.append(Array(new.user.utf8)) }
        }
        var losers: Set<Int64> = []
        for write in writes {
            losers.formUnion(takeTokensKeepingImports(of: write, besides: entry(write.id)?.stored.number ?? 0))
        }
        for write in writes { storeImport(write, after: push, at: now) }
        removeEmptiedImports(losers)
        return results
    }

    private func entry(_ id: InstallationID) -> Entry? { entries.first { $0.stored.installation.id == id } }

    private func isEnrolled(_ token: DeviceToken, in app: String) -> Bool {
        entries.contains { entry in
            entry.secret != nil && entry.stored.installation.app == app
                && entry.stored.installation.tokens.values.contains { $0.token == token }
        }
    }

    private func isFree(
        _ token: DeviceToken,
        of new: Installation,
        _ isUnregistered: (DeviceToken, PushEnvironment) -> Bool
    ) -> Bool {
        !isEnrolled(token, in: new.app) && !isUnregistered(token, new.environment)
    }

    private func importResult(
        of new: Installation,
        _ app: String,
        _ newUsers: [[UInt8]],
        _ isUnregistered: (DeviceToken, PushEnvironment) -> Bool
    ) -> ImportResult {
        let old = entry(new.id)
        if let old, old.stored.installation.app != app { return .identifierIsTaken }
        if old?.secret != nil { return .known }
        let free = new.tokens.filter { isFree($0.value.token, of: new, isUnregistered) }
        guard !free.isEmpty else {
            return new.tokens.values.contains { isEnrolled($0.token, in: app) } ? .known : .unregistered
        }
        if let own = old?.stored.installation, own.isOf(new.user), own.environment == new.environment,
            own.bundleID == new.bundleID, own.attributes == new.attributes, own.permissions == new.permissions,
            own.tags == new.tags, own.activities == new.activities,
            own.tokens.mapValues(\.token) == free.mapValues(\.token)
        {
            return .unchanged
        }
        if old?.stored.installation.isOf(new.user) != true {
            let count = entries.count {
                $0.stored.installation.app == app && $0.stored.installation.isOf(new.user)
            }
            let added = newUsers.count { $0 == Array(new.user.utf8) }
            guard count + added < Installation.limitPerUser else { return .userIsFull }
        }
        return old == nil ? .added : .changed
    }

    private mutating func storeImport(_ new: Installation, after push: Int64, at now: Int64) {
        guard let index = entries.firstIndex(where: { $0.stored.installation.id == new.id }) else {
            lastNumber += 1
            let stored = StoredInstallation(number: lastNumber, revision: 1, installation: new)
            entries.append(Entry(stored: stored, secret: nil, lastPushes: new.tokens.mapValues { _ in push }))
            return
        }
        let old = entries[index].stored.installation
        var changed = new
        changed.createdAt = old.createdAt
        changed.changedAt = now
        changed.seenAt = old.seenAt
        for (slot, registered) in new.tokens {
            if let known = old.tokens[slot], known.token == registered.token {
                changed.tokens[slot] = known
            } else {
                entries[index].lastPushes[slot] = push
            }
        }
        entries[index].stored.installation = changed
        entries[index].stored.revision += 1
    }

    /// Replaces after a push; returns the tokens that are registered now, or nil when another change came first.
    mutating func replace(
        _ stored: StoredInstallation,
        with new: Installation,
        after push: Int64
    ) -> [DeviceToken]? {
        let index = entries.firstIndex {
            $0.stored.number == stored.number && $0.stored.revision == stored.revision
        }
        guard var index else { return nil }
        // Only differences are written, so that a token removed in the meantime stays removed.
        let difference = InstallationDifference(from: stored.installation, to: new)
        var tokens = entries[index].stored.installation.tokens
        for slot in difference.removed { tokens[slot] = nil }
        tokens.merge(difference.registered) { _, new in new }
        var written = new
        written.tokens = difference.registered
        takeTokens(of: written, besides: stored.number)
        index = entries.firstIndex { $0.stored.number == stored.number } ?? index
        entries[index].stored.installation = new
        entries[index].stored.installation.tokens = tokens
        entries[index].stored.revision += 1
        for slot in difference.registered.keys { entries[index].lastPushes[slot] = push }
        return difference.registered.values.map(\.token)
    }

    mutating func remove(_ id: InstallationID, of app: String) -> Bool {
        let count = entries.count
        entries.removeAll { $0.stored.installation.id == id && $0.stored.installation.app == app }
        return entries.count < count
    }

    mutating func removeUser(_ user: String, of app: String) -> Int {
        tickets = tickets.filter { !($0.value.user.utf8.elementsEqual(user.utf8) && $0.value.app == app) }
        let count = entries.count
        entries.removeAll { $0.stored.installation.isOf(user) && $0.stored.installation.app == app }
        return count - entries.count
    }

    func installation(_ id: InstallationID, of app: String) -> StoredInstallation? {
        entries.map(\.stored).first { $0.installation.id == id && $0.installation.app == app }
    }

    func installation(withSecret hash: [UInt8]) -> StoredInstallation? {
        entries.first { $0.secret == hash }?.stored
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) -> [StoredInstallation] {
        let found = entries.map(\.stored).filter { stored in
            guard stored.installation.app == app, stored.number > cursor else { return false }
            return switch selection {
            case .all: true
            case .user(let user): stored.installation.isOf(user)
            case .tag(let tag): stored.installation.tags.contains(tag)
            }
        }
        return Array(found.prefix(limit))
    }

    func members(of query: AudienceQuery, in app: String) -> [AudienceMember] {
        entries.map(\.stored).filter { stored in
            let installation = stored.installation
            guard installation.app == app else { return false }
            return switch query.audience {
            case .users(let users): users.contains { installation.isOf($0) }
            case .installation(let id): installation.id == id
            }
        }.map { AudienceMember($0, query.slot) }
    }

    func audiencePage(of scan: AudienceScan, limit: Int) -> AudiencePage {
        let rest = entries.map(\.stored).filter { stored in
            stored.installation.app == scan.app && stored.number > scan.cursor && stored.number <= scan.highMark
        }
        let examined = rest.prefix(limit)
        var page = AudiencePage()
        page.members = examined.filter { scan.expression.matches($0.installation) }
            .map { AudienceMember($0, scan.slot) }
        page.examined = examined.count
        if examined.count == limit { page.next = examined.last?.number }
        return page
    }

    /// Returns the installation with a number; nil if it was removed.
    func installation(numbered number: Int64) -> Installation? {
        entries.map(\.stored).first { $0.number == number }?.installation
    }

    /// The user whose installation has a token.
    func owner(of token: DeviceToken, in app: String) -> String? {
        entries.map(\.stored.installation).first { installation in
            installation.app == app && installation.tokens.values.contains { $0.token == token }
        }?.user
    }

    /// The greatest number of an installation of an app; 0 without one.
    func highMark(of app: String) -> Int64 {
        entries.map(\.stored).filter { $0.installation.app == app }.map(\.number).max() ?? 0
    }

    /// Removes a token that was registered before a push; returns whether it was registered later.
    mutating func unregister(_ token: DeviceToken, in lane: Lane, before push: Int64) -> Bool {
        var isNewer = false
        for index in entries.indices {
            let installation = entries[index].stored.installation
            guard installation.app == lane.app, installation.environment == lane.environment else { continue }
            for (slot, registered) in installation.tokens where registered.token == token {
                if entries[index].lastPushes[slot] ?? 0 >= push {
                    isNewer = true
                } else {
                    entries[index].stored.installation.tokens[slot] = nil
                }
            }
        }
        return isNewer
    }
}

extension AudienceMember {
    fileprivate init(_ stored: StoredInstallation, _ slot: Installation.TokenSlot) {
        let installation = stored.installation
        self.init(
            number: stored.number,
            installation: installation.id,
            user: installation.user,
            environment: installation.environment,
            bundleID: installation.bundleID,
            permissions: installation.permissions,
            token: installation.tokens[slot]?.token,
            locale: installation.attributes[.locale],
            timeZone: installation.attributes[.timeZone],
            appVersion: installation.attributes[.appVersion],
            systemVersion: installation.attributes[.systemVersion]
        )
    }
}

extension Installation {
    /// Whether the installation has a user, compared byte by byte: Swift takes some users for equal that are not.
    fileprivate func isOf(_ other: String) -> Bool { user.utf8.elementsEqual(other.utf8) }
}
