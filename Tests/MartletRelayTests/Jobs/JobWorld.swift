// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox

@testable import MartletRelay

/// Phones that come, change, get other users and leave, two relays that expand jobs and are killed, and Apple, from a
/// seed.
///
/// Each relay holds the pages that it has built until it stores them, perhaps after the other one.
struct JobWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// A fault that the checks of the world have to find.
    enum Fault: CaseIterable, Sendable {
        /// Installations that enroll after the creation of a job get a push.
        case ignoresHighMark
        /// A job to a tag sends to all.
        case ignoresTag
        /// A cancelled job keeps its pushes until they are sent.
        case keepsPushes
        /// A job of alerts sends to phones without the permission.
        case ignoresPermissions
        /// The store keeps a token that Apple has reported as unregistered.
        case keepsUnregisteredTokens
    }

    private struct HeldPage {
        let relay: Int
        let job: StoredJob
        let page: JobPage
    }

    static let app = "orders"
    private static let lane = Lane(app: app, environment: .production)
    static let users = ["anna", "bert", "cleo", "dora", "emil"]
    static let device = Installation.TokenSlot(.device)
    private static let all = #"{"all":true}"#
    private static let steps = 150
    static let phoneLimit = 18
    private static let jobLimit = 3

    private let apps: [RelayConfiguration.App]
    private let renderers = [JobWorld.lane: SnapshotRenderer(timeout: .seconds(30))]
    private let fault: Fault?
    let tell: ((String) -> Void)?
    private(set) var outbox: any OutboxStore
    /// Opens the outbox again after it was closed; nil for one that is not closed.
    private let reopen: (() async throws -> any OutboxStore)?
    var random: SplitMix64
    /// Milliseconds since 1970, another time in each step.
    var now: Int64
    var phones: [Phone] = []
    /// The last token, as a number.
    var lastToken: UInt64
    private var jobs: [StoredJob] = []
    private var pages: [HeldPage] = []
    private var claims: [ClaimedPush] = []
    /// The pushes that were claimed at least once.
    private var sent: Set<APNsID> = []
    /// The numbers of cancelled jobs.
    private var cancelled: Set<Int64> = []
    /// The numbers of ends of each push.
    private var ends: [APNsID: Int] = [:]

    init(
        seed: UInt64,
        app: RelayConfiguration.App,
        over outbox: any OutboxStore,
        reopen: (() async throws -> any OutboxStore)? = nil,
        fault: Fault? = nil,
        tell: ((String) -> Void)? = nil
    ) {
        self.outbox = outbox
        self.reopen = reopen
        self.fault = fault
        self.tell = tell
        apps = [app]
        random = SplitMix64(state: seed)
        // Later than the worlds before, with tokens of this world alone, because the outbox may be used by many.
        now = 1_795_000_000_000 + Int64(seed % 1_000_000) * 2_000_000
        lastToken = 0xA000_0000_0000_0000 | (seed & 0xFFFF_FFFF) << 16
    }

    // MARK: Running

    mutating func run() async throws {
        for _ in 0..<6 { try await enroll() }
        for _ in 0..<Self.steps {
            now += Int64.random(in: 1...1_000, using: &random)
            try await step()
        }
        try await finish()
        for job in jobs { try await check(job) }
        for user in Self.users { _ = try await outbox.installations.removeUser(user, of: Self.app) }
    }

    private mutating func step() async throws {
        switch Int.random(in: 0..<28, using: &random) {
        case 0..<2: try await enroll()
        case 2: try await changeToken()
        case 3..<5: try await changePermission()
        case 5..<7: try await moveToken()
        case 7: try await leave()
        case 8: try await eraseUser()
        case 9..<11: try await createJob()
        case 11..<16: try await buildPage()
        case 16..<21: try await storePage()
        case 21: try await kill()
        case 22: try await cancelJob()
        case 23..<26: try await claim()
        default: try await settle()
        }
    }

    mutating func anyNumber() -> Int { Int.random(in: 0..<1_000, using: &random) }

    // MARK: Jobs

    private mutating func createJob() async throws {
        guard jobs.count < Self.jobLimit else { return }
        let target = Bool.random(using: &random) ? Self.all : #"{"tag":"vip"}"#
        let job = Job(
            app: Self.app,
            id: APNsID(randomBits: (random.next(), random.next())),
            caller: "shop",
            fingerprint: [UInt8(jobs.count)],
            request: Self.request(to: target),
            audience: target
        )
        guard case .added(let stored) = try await outbox.jobs.add(job, at: now) else {
            throw Violation(description: "a new job is not added")
        }
        tell?("job \(stored.number) to \(target)")
        jobs.append(stored)
    }

    private static func request(to target: String) -> [UInt8] {
        Array(#"{"payload":{"aps":{"alert":"Hi"}},"to":\#(target)}"#.utf8)
    }

    private static func backgroundRequest(to target: String) -> [UInt8] {
        Array(#"{"payload":{"aps":{"content-available":1}},"push-type":"background","to":\#(target)}"#.utf8)
    }

    /// A relay builds a page of an active job.
    private mutating func buildPage() async throws {
        let active = try await outbox.jobs.activeJobs(at: now, limit: 10).filter { JobStep($0) == .expand }
        guard var job = active.randomElement(using: &random) else { return }
        if fault == .ignoresHighMark { job.highMark = .max }
        if fault == .ignoresTag { job.job.request = Self.request(to: Self.all) }
        if fault == .ignoresPermissions { job.job.request = Self.backgroundRequest(to: job.job.audience) }
        let relay = Int.random(in: 0..<2, using: &random)
        let limit = Int.random(in: 1...4, using: &random)
        let page = try await JobPageBuilder.page(
            of: job,
            from: outbox.installations,
            apps: apps,
            renderers: renderers,
            limit: limit,
            at: now
        )
        tell?("relay \(relay) builds a page of job \(job.number) with \(page.pushes.count) pushes")
        pages.append(HeldPage(relay: relay, job: job, page: page))
    }

    /// A relay stores a page, and sometimes once more, because it does not get the answer.
    private mutating func storePage() async throws {
        guard !pages.isEmpty else { return }
        let held = pages.remove(at: Int.random(in: pages.indices, using: &random))
        let before = try await current(held.job)
        let answer = try await outbox.jobs.expand(held.page, at: now)
        tell?("relay \(held.relay) stores a page of job \(held.job.number): \(answer)")
        let isExpected = before.state == .expanding && before.cursor == held.page.cursor
        guard (answer != .outdated) == isExpected else {
            throw Violation(description: "job \(held.job.number) answers \(answer) to a page")
        }
        guard Bool.random(using: &random), try await outbox.jobs.expand(held.page, at: now) != .outdated else { return }
        throw Violation(description: "a page of job \(held.job.number) is stored twice")
    }

    private func current(_ job: StoredJob) async throws -> StoredJob {
        guard let stored = try await outbox.jobs.job(job.job.id, of: Self.app) else {
            throw Violation(description: "job \(job.number) is missing")
        }
        return stored
    }

    /// A relay, or the process that has the outbox open, is killed.
    private mutating func kill() async throws {
        let relay = Int.random(in: 0..<3, using: &random)
        tell?(relay < 2 ? "relay \(relay) is killed" : "the outbox is opened again")
        pages.removeAll { $0.relay == relay }
        guard relay == 2, let reopen else { return }
        await outbox.close(isInOrder: false)
        outbox = try await reopen()
        claims = []
    }

    private mutating func cancelJob() async throws {
        guard anyNumber() % 3 == 0, let job = jobs.randomElement(using: &random) else { return }
        tell?("job \(job.number) is cancelled")
        guard let cancelled = try await outbox.jobs.cancel(job.job.id, of: Self.app, at: now) else {
            throw Violation(description: "job \(job.number) is missing")
        }
        guard cancelled.state == .cancelled else { return }
        try await cancelPushes(of: cancelled)
        self.cancelled.insert(job.number)
    }

    private mutating func cancelPushes(of job: StoredJob) async throws {
        guard fault != .keepsPushes else { return }
        var cursor: Int64?
        repeat {
            let step = try await outbox.jobs.cancelPushes(of: job, before: cursor, limit: 2, at: now)
            try recordEnds(of: step.pushes)
            cursor = step.next
        } while cursor != nil
    }

    // MARK: Delivery

    mutating func recordEnds(of pushes: [PushStatus]) throws {
        for push in pushes { try recordEnd(of: push.id) }
    }

    private mutating func recordEnd(of id: APNsID) throws {
        ends[id, default: 0] += 1
        guard ends[id] == 1 else { throw Violation(description: "push \(id) ends twice") }
    }

    private mutating func claim() async throws {
        let limit = Int.random(in: 1...5, using: &random)
        let found = try await outbox.claim(Self.lane, .job, limit: limit, at: now).pushes
        for claimed in found where ends[claimed.push.id] != nil {
            throw Violation(description: "push \(claimed.push.id) is claimed after its end")
        }
        for claimed in found { try checkUser(of: claimed) }
        // A push that was claimed before the cancellation may be claimed again.
        for claimed in found where !sent.contains(claimed.push.id) {
            sent.insert(claimed.push.id)
            guard let number = claimed.push.job, cancelled.contains(number) else { continue }
            throw Violation(description: "push \(claimed.push.id) of a cancelled job is claimed")
        }
        claims += found
    }

    /// Compares the user of a claimed push with the users whose phones have its token.
    private func checkUser(of claimed: ClaimedPush) throws {
        guard case .device(let token) = claimed.push.destination else { return }
        let hasToken = phones.contains { !$0.isGone && $0.user == claimed.push.user && $0.token == token }
        guard claimed.hasFormerUser == hasToken else { return }
        let user = claimed.push.user ?? "no user"
        throw Violation(
            description: hasToken
                ? "push \(claimed.push.id) is not sent to \(user)"
                : "push \(claimed.push.id) is sent to a phone that \(user) has left"
        )
    }

    private mutating func settle() async throws {
        guard !claims.isEmpty else { return }
        let push = claims.remove(at: Int.random(in: claims.indices, using: &random))
        if anyNumber() % 4 == 0 {
            _ = try await outbox.settle([push.postponed(until: now)], at: now)
            return
        }
        if anyNumber() % 6 == 0, push.outcomeWithoutSending(at: now) == nil {
            return try await refuse(push)
        }
        let outcome = push.outcomeWithoutSending(at: now) ?? Outcome(.delivered, status: 200)
        _ = try await outbox.settle([Settlement(push, .ended(outcome))], at: now)
        try recordEnd(of: push.push.id)
    }

    /// Apple reports the token of a push as unregistered, which concerns the registrations before its acceptance.
    private mutating func refuse(_ push: ClaimedPush) async throws {
        guard case .device(let token) = push.push.destination else { return }
        tell?("token \(token.hex) is unregistered")
        let settlement = Settlement(
            push,
            .ended(Outcome(.refused, status: 410, reason: "Unregistered")),
            isTokenUnregistered: fault != .keepsUnregisteredTokens
        )
        _ = try await outbox.settle([settlement], at: now)
        try recordEnd(of: push.push.id)
        for place in phones.indices
        where phones[place].token == token && phones[place].registeredAt < push.acceptedAt {
            removeToken(of: place)
        }
    }

    // MARK: End

    /// Runs the relays until all jobs have ended.
    private mutating func finish() async throws {
        for _ in 0..<1_000 {
            now += 1_000
            while !pages.isEmpty { try await storePage() }
            try await buildPage()
            for job in try await outbox.jobs.activeJobs(at: now, limit: 10) where job.state == .cancelled {
                try await cancelPushes(of: job)
            }
            try await claim()
            while !claims.isEmpty { try await settle() }
            var haveEnded = true
            for job in jobs {
                let stored = try await current(job)
                if stored.endedAt == nil { haveEnded = false }
            }
            if haveEnded, pages.isEmpty { return }
        }
        throw Violation(description: "the jobs do not end")
    }

    /// Compares the pushes of a job with the phones.
    private func check(_ created: StoredJob) async throws {
        let job = try await current(created)
        var (possible, certain) = (0, 0)
        for phone in phones {
            guard let id = JobPageBuilder.id(of: phone.id, in: job.job) else { continue }
            let isMatched = phone.enrolledAt < job.createdAt && (phone.isVIP || job.job.audience.contains("all"))
            guard isMatched else {
                guard ends[id] == nil else {
                    throw Violation(description: "\(phone.id) gets a push of job \(job.number)")
                }
                continue
            }
            possible += 1
            guard !phone.isGone else { continue }
            certain += 1
            guard phone.changedAt < job.createdAt else { continue }
            let isReachable = phone.token != nil && phone.isAllowed
            guard isReachable || ends[id] == nil else {
                throw Violation(description: "\(phone.id) gets a push of job \(job.number), and cannot be reached")
            }
            guard job.state == .expanded, isReachable, ends[id] == nil else { continue }
            throw Violation(description: "\(phone.id) gets no push of job \(job.number)")
        }
        guard job.state == .cancelled || (certain...possible).contains(job.matched) else {
            throw Violation(
                description: "job \(job.number) matches \(job.matched), not \(certain) to \(possible)"
            )
        }
        guard job.unfinished == 0, job.outcomes.values.reduce(0, +) == job.stored else {
            throw Violation(description: "job \(job.number) counts \(job.outcomes) of \(job.stored) pushes")
        }
    }
}
