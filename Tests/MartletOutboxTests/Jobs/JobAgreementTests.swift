// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The engines against the model, with random jobs, pages and ends of pushes.
@Suite(.timeLimit(.minutes(10))) struct JobAgreementTests {
    /// A step, the same for the model and the engine.
    private enum Step: Sendable {
        case add(Job)
        /// Stores a page at the cursor of the job, or at another one.
        case expand(Job, [OutboxPush], leftOut: [LeftOutReason: Int], isLast: Bool, isCursorWrong: Bool)
        case cancel(Job)
        case cancelPushes(Job, limit: Int)
        case deleteJobs(before: Int64)
        case recordEnds(limit: Int)
        case accept(OutboxPush)
        case claim(Lane, Urgency)
        /// Settles the claimed pushes, each as its identifier determines.
        case settle
        case cancelPush(APNsID, String)
        case expire
        case purge(Lane)
        case erase(String, String)
        case requeue(String)
        case deleteDeadLetters([APNsID], String)
        case forgetOutcomes(before: Int64)
        case enroll(Installation)
        case removeUser(String, String)
        case restart(isInOrder: Bool)
    }

    private struct Steps {
        static let apps = ["orders", "rides"]
        private static let users = ["anna", "bob", "carl"]
        private static let tokens = ["aa", "bb", "cc", "dd", "ee"]

        var random: SplitMix64
        var now: Int64 = 1_000
        private var jobs: [Job] = []
        /// The pushes of jobs.
        private var pushes: [OutboxPush] = []
        private(set) var singles: [OutboxPush] = []
        private var number: UInt64 = 0
        /// Whether the steps delete jobs, whose dead letters then belong to no job.
        let deletesJobs: Bool

        init(seed: UInt64) {
            random = SplitMix64(state: seed)
            deletesJobs = seed.isMultiple(of: 2)
        }

        private mutating func pick<Element>(_ elements: [Element]) -> Element? {
            elements.randomElement(using: &random)
        }

        private mutating func happens(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        private mutating func lane(of app: String? = nil) -> Lane {
            Lane(app: app ?? pick(Self.apps) ?? "", environment: happens(in: 4) ? .development : .production)
        }

        private mutating func push(_ lane: Lane) throws -> OutboxPush {
            // Sometimes an identifier that another push has or had.
            if happens(in: 12), var earlier = pick(pushes) {
                earlier.lane = lane
                return earlier
            }
            number += 1
            let push = try OutboxPush.numbered(
                number,
                lane,
                priority: pick(["10", "5", "1"]),
                token: pick(Self.tokens) ?? "",
                expiresAt: happens(in: 4) ? now + .random(in: 1...400, using: &random) : nil,
                orderKey: orderKey(),
                user: happens(in: 3) ? nil : pick(Self.users),
                installation: Int64(number)
            )
            pushes.append(push)
            return happens(in: 2) ? push.superseding : push
        }

        /// An order key for some of the pushes that become no dead letters: the engines line up a dead letter that is
        /// queued again in different places.
        private mutating func orderKey() -> String? {
            guard number % 16 > 1, happens(in: 3) else { return nil }
            return pick(["a", "b"])
        }

        private mutating func page() throws -> Step? {
            guard let job = pick(jobs) else { return nil }
            var page: [OutboxPush] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let next = try push(lane(of: job.app))
                if !page.contains(where: { $0.id == next.id }) { page.append(next) }
            }
            var leftOut: [LeftOutReason: Int] = [:]
            for reason in [LeftOutReason.noToken, .notAllowed, .moved] where happens(in: 2) {
                leftOut[reason] = .random(in: 1...9, using: &random)
            }
            let (isLast, isCursorWrong) = (happens(in: 10), happens(in: 5))
            return .expand(job, page, leftOut: leftOut, isLast: isLast, isCursorWrong: isCursorWrong)
        }

        mutating func next() throws -> Step {
            now += .random(in: 1...50, using: &random)
            let step: Step? =
                switch Int.random(in: 0..<42, using: &random) {
                case 0..<4: add()
                case 4..<14: try page()
                case 14: pick(jobs).map { .cancel($0) }
                case 15: pick(jobs).map { .cancelPushes($0, limit: 3) }
                case 16: deletesJobs ? .deleteJobs(before: now - .random(in: 0...400, using: &random)) : nil
                case 17: .accept(try single())
                case 18..<23: .claim(lane(), happens(in: 5) ? .immediate : .job)
                case 23..<29: .settle
                case 29: pick(pushes).map { .cancelPush($0.id, $0.lane.app) }
                case 30: .expire
                case 31: happens(in: 3) ? .purge(lane()) : nil
                case 32: .erase(pick(Self.users) ?? "", pick(Self.apps) ?? "")
                case 33..<35: .requeue(pick(Self.apps) ?? "")
                case 35: pick(pushes).map { .deleteDeadLetters([$0.id], $0.lane.app) }
                case 36: .forgetOutcomes(before: now - .random(in: 0...2_000, using: &random))
                case 37..<39: try enroll()
                case 39..<41: .recordEnds(limit: .random(in: 1...3, using: &random))
                default: happens(in: 2) ? .restart(isInOrder: happens(in: 2)) : removeUser()
                }
            guard let step else { return try next() }
            return step
        }

        private mutating func add() -> Step {
            // Sometimes a job that is known, or another one with its identifier.
            if happens(in: 4), var job = pick(jobs) {
                if happens(in: 2) { job.fingerprint = [7] }
                return .add(job)
            }
            let notBefore = happens(in: 3) ? now + .random(in: 1...200, using: &random) : nil
            let job = Job.numbered(UInt64(jobs.count), app: pick(Self.apps) ?? "", notBefore: notBefore)
            jobs.append(job)
            return .add(job)
        }

        private mutating func single() throws -> OutboxPush {
            number += 1
            let push = try OutboxPush.numbered(number, lane(), token: pick(Self.tokens) ?? "", orderKey: orderKey())
            singles.append(push)
            return happens(in: 2) ? push.superseding : push
        }

        private mutating func enroll() throws -> Step {
            number += 1
            let installation = Installation.numbered(
                number,
                user: pick(Self.users) ?? "",
                app: pick(Self.apps) ?? "",
                at: now
            )
            return .enroll(try installation.with(pick(Self.tokens) ?? "", at: now))
        }

        private mutating func removeUser() -> Step { .removeUser(pick(Self.users) ?? "", pick(Self.apps) ?? "") }
    }

    /// An outbox with the pushes that it has claimed.
    private struct World {
        let place: OutboxEngine.Place
        var outbox: any OutboxStore
        private var claimed: [ClaimedPush] = []

        init(_ engine: OutboxEngine) async throws {
            place = try await engine.place()
            outbox = try await place.open()
        }

        /// Performs a step, and describes what it returned.
        mutating func perform(_ step: Step, at now: Int64) async throws -> String {
            switch step {
            case .add, .expand, .cancel, .cancelPushes, .deleteJobs, .recordEnds:
                return try await performOnJobs(step, at: now)
            case .accept(let push):
                let answer = try await outbox.accept([push], at: now)[0]
                return "\(answer.isStored) \(describe(answer.superseded))"
            case .claim(let lane, let urgency):
                let pushes = try await outbox.claimAll(lane, urgency, at: now)
                claimed += pushes
                let lines = pushes.map { push in
                    "\(push.push.id) \(push.push.job != nil) \(push.attempts) \(push.hasFormerUser)"
                }
                return "\(lines.sorted())"
            case .settle: return try await settle(at: now)
            case .cancelPush(let id, let app):
                let status = try await outbox.cancel(id, of: app, at: now)
                return "\(String(describing: status?.outcome?.state)) \(status?.state == .inFlight)"
            case .expire: return describe(try await outbox.expire(at: now, limit: 1_000))
            case .purge(let lane):
                return describe(try await outbox.purge(lane, upTo: nil, limit: 1_000, at: now).pushes)
            case .erase(let user, let app):
                let steps = try await outbox.erasePushes(ofUser: user, of: app, at: now)
                return describe(steps.flatMap(\.cancelled)) + " \(steps.reduce(0) { $0 + $1.deadLetters })"
            case .requeue(let app): return "\(try await outbox.requeueDeadLetters(nil, of: app, at: now))"
            case .deleteDeadLetters(let ids, let app):
                return "\(try await outbox.records.deleteDeadLetters(ids, of: app))"
            case .forgetOutcomes(let time): return "\(try await outbox.forgetOutcomes(before: time, limit: 1_000))"
            case .enroll(let installation):
                return "\(try await outbox.installations.enroll(installation, secret: 1, at: now) != nil)"
            case .removeUser(let user, let app): return "\(try await outbox.installations.removeUser(user, of: app))"
            case .restart(let isInOrder):
                await outbox.close(isInOrder: isInOrder)
                outbox = try await place.open()
                claimed = []
                return "restarted"
            }
        }

        private func performOnJobs(_ step: Step, at now: Int64) async throws -> String {
            let jobs = outbox.jobs
            switch step {
            case .add(let job):
                switch try await jobs.add(job, at: now) {
                case .added: return "added"
                case .duplicate(let stored): return "duplicate \(stored.createdAt)"
                case .conflict: return "conflict"
                }
            case .expand(let job, let pushes, let leftOut, let isLast, let isCursorWrong):
                guard let stored = try await jobs.job(job.id, of: job.app) else { return "unknown" }
                let page = JobPage(
                    of: stored.number,
                    after: stored.cursor + (isCursorWrong ? 1 : 0),
                    through: stored.cursor + 10,
                    isLast: isLast,
                    pushes: pushes,
                    leftOut: leftOut
                )
                switch try await jobs.expand(page, at: now) {
                case .stored(let count, let refused, let superseded):
                    return "stored \(count) \(describe(refused)) \(describe(superseded))"
                case .outdated: return "outdated"
                case .full: return "full"
                }
            case .cancel(let job):
                let stored = try await jobs.cancel(job.id, of: job.app, at: now)
                return stored.map { describe($0) } ?? "unknown"
            case .cancelPushes(let job, let limit):
                guard let stored = try await jobs.job(job.id, of: job.app) else { return "unknown" }
                let steps = try await jobs.cancelAllPushes(of: stored, limit: limit, at: now)
                return "\(steps.map { $0.map(\.description).sorted() })"
            case .deleteJobs(let time): return "\(try await jobs.deleteJobs(endedBefore: time, limit: 1_000))"
            case .recordEnds(let limit): return "\(try await jobs.recordEnds(limit: limit).map { describe($0) })"
            default: return ""
            }
        }

        /// Settles the claimed pushes in the order of their identifiers, because the engines claim in different orders.
        private mutating func settle(at now: Int64) async throws -> String {
            for push in claimed.sorted(by: { $0.push.id.description < $1.push.id.description }) {
                var settlement = push.ended
                switch push.push.id.description.last {
                case "0", "1":
                    settlement = Settlement(push, .ended(Outcome(.dead, status: 503, attempts: 1)))
                case "2":
                    let outcome = Outcome(.refused, status: 410, reason: "Unregistered")
                    settlement = Settlement(push, .ended(outcome), isTokenUnregistered: true)
                case "3" where push.attempts == 0:
                    settlement = push.postponed(until: now + 20, attempts: 1)
                default: break
                }
                try await outbox.settle([settlement], at: now)
            }
            defer { claimed = [] }
            return "\(claimed.count)"
        }

        /// The jobs without their numbers, which may have gaps.
        func state(at now: Int64) async throws -> [String] {
            var state: [String] = []
            for app in Steps.apps {
                let jobs = try await outbox.jobs.jobs(of: app, before: nil, limit: 1_000)
                state += jobs.map { describe($0) }
                for job in jobs { state += try await pushes(of: job) }
                state += try await outbox.jobs.endedJobs(of: app, after: 0, limit: 1_000).map(\.job.id.description)
            }
            let active = try await outbox.jobs.activeJobs(at: now, limit: 1_000)
            return state + active.map(\.job.id.description)
        }

        /// The pushes of a job, read in pages.
        private func pushes(of job: StoredJob) async throws -> [String] {
            var found: [JobPush] = []
            var page: [JobPush]
            repeat {
                let last = found.last?.place ?? 0
                page = try await outbox.jobs.pushes(of: job, in: JobPushState.allCases, after: last, limit: 5)
                found += page
            } while !page.isEmpty
            return found.map { "\($0.place) \($0.status.id) \($0.status.outcome.map { "\($0.state)" } ?? "waiting")" }
        }

        private func describe(_ stored: StoredJob) -> String {
            "\(stored.job.id) \(stored.createdAt) \(stored.state) \(stored.cursor) \(stored.stored)"
                + " \(describe(stored.leftOut)) \(stored.outcomes.map { "\($0.key) \($0.value)" }.sorted())"
                + " \(stored.expandedAt ?? 0) \(stored.outcomesChangedAt) \(stored.endedAt ?? 0) \(stored.unfinished)"
                + " \(stored.endCursor ?? 0)"
        }

        private func describe(_ leftOut: [LeftOutReason: Int]) -> String {
            "\(leftOut.map { "\($0.key) \($0.value)" }.sorted())"
        }

        private func describe(_ statuses: [PushStatus]) -> String { "\(statuses.map(\.id.description).sorted())" }
    }

    /// The number of unfinished pushes of all jobs, and that of the waiting pushes besides those that were sent singly.
    private func unfinished(of world: World, besides singles: [OutboxPush]) async throws -> (Int, Int) {
        var unfinished = 0
        for app in Steps.apps {
            let jobs = try await world.outbox.jobs.jobs(of: app, before: nil, limit: 1_000)
            unfinished += jobs.reduce(0) { $0 + $1.unfinished }
        }
        var waiting = try await world.outbox.backlog().reduce(0) { $0 + $1.count }
        for push in singles {
            let status = try await world.outbox.status(of: push.id, of: push.lane.app)
            if let status, status.outcome == nil { waiting -= 1 }
        }
        return (unfinished, waiting)
    }

    @Test(arguments: OutboxEngine.stores, 1...6 as ClosedRange<UInt64>)
    func `every engine agrees with the model`(engine: OutboxEngine, seed: UInt64) async throws {
        var model = try await World(.model)
        var world = try await World(engine)
        var steps = Steps(seed: seed)
        var pages = 0
        for index in 0..<300 {
            let step = try steps.next()
            let expected = try await model.perform(step, at: steps.now)
            let found = try await world.perform(step, at: steps.now)
            if expected.hasPrefix("stored") { pages += 1 }
            try #require(found == expected, "seed \(seed), step \(index): \(step)")
            let ours = try await model.state(at: steps.now)
            let theirs = try await world.state(at: steps.now)
            try #require(theirs == ours, "seed \(seed), after step \(index): \(step)")
        }
        // A dead letter of a deleted job waits for no job when it is queued again.
        if !steps.deletesJobs {
            let counts = try await unfinished(of: model, besides: steps.singles)
            #expect(counts.0 == counts.1)
        }
        #expect(pages > 10, "the steps store too few pages to prove much")
        await world.outbox.close(isInOrder: true)
    }
}
