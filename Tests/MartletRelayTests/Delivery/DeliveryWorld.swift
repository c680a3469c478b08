// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel

@testable import MartletRelay

/// One day in the life of a relay, from a seed: callers, an operator, an outbox that is slow or fails, Apple with its
/// faults and an outage of an hour, and a process that ends at any moment.
///
/// An acknowledged push has to end once, in order, and in agreement with Apple. A paused lane sends nothing.
struct DeliveryWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    private enum Event {
        case offer([OutboxPush])
        case accepted([OutboxPush])
        case claimed(DeliveryMachine.ClaimAction)
        case settled([Settlement])
        case atApple(ClaimedPush)
        case answered(Int64, SendResult)
        case notStarted(Int64)
        case cancel(OutboxPush)
        case pause(Lane)
        case resume(Lane)
        case purge(Lane)
        case sweep
        case wake
        case crash
        case restart
    }

    private struct Scheduled {
        var time: Int64
        var order: Int
        var life: Int
        var event: Event
    }

    static let lanes = [
        Lane(app: "orders", environment: .production), Lane(app: "orders", environment: .development),
        Lane(app: "rides", environment: .production),
    ]
    /// Three days: longer than any push is tried for.
    private static let end: Int64 = 3 * 86_400_000

    private var now: Int64 = 1_000_000
    private let begin: Int64 = 1_000_000
    private var generator: SplitMix64
    private var agenda: [Scheduled] = []
    private var count = 0
    /// The number of the current process; operations of an earlier one have no effect.
    private var life = 0
    private var isRunning = false
    private var wakesAt: Int64?
    private var model = OutboxModel()
    private var machine: DeliveryMachine
    private var limits = DeliveryMachine.Limits()
    /// Pushes of other lanes that have gone since a lane could have sent one.
    private var passedOver: [Lane: Int] = [:]
    private var outage: ClosedRange<Int64>
    private var storageFailure: ClosedRange<Int64>
    /// The period in which the disk is slow.
    private var slowness: ClosedRange<Int64>
    private var crashes: Int
    private let tell: ((String) -> Void)?

    private var offered: [OutboxPush] = []
    private var acknowledged: Set<APNsID> = []
    /// The pushes that Apple has delivered, in order.
    private var delivered: [APNsID] = []

    init(seed: UInt64, tell: ((String) -> Void)? = nil) {
        var generator = SplitMix64(state: seed)
        let start = begin + Int64.random(in: 0...20_000, using: &generator)
        outage = start...(start + Int64.random(in: 0...3_600_000, using: &generator))
        let failing = begin + Int64.random(in: 0...60_000, using: &generator)
        storageFailure = failing...(failing + Int64.random(in: 0...20_000, using: &generator))
        let slow = begin + Int64.random(in: 0...60_000, using: &generator)
        slowness = slow...(slow + Int64.random(in: 0...20_000, using: &generator))
        crashes = Int.random(in: 0...3, using: &generator)
        machine = DeliveryMachine(seed: 0)
        self.generator = generator
        self.tell = tell
        restart()
        for number in 0..<Int64(Int.random(in: 1...40, using: &self.generator)) { plan(number) }
        schedule(.sweep, after: 1_000, anyLife: true)
        if chance(0...7) == 0 { planFlood() }
        if chance(0...3) == 0 { planPause() }
        for _ in 0..<crashes { schedule(.crash, after: chance(0...120_000), anyLife: true) }
    }

    // MARK: Running

    mutating func run() throws(Violation) {
        while let next = agenda.popLast() {
            now = next.time
            if next.life == life || next.life < 0 { try handle(next.event) }
            if isRunning { try carryOut() }
        }
        try check()
    }

    private mutating func handle(_ event: Event) throws(Violation) {
        tell?("\(now - begin) ms: \(event)")
        switch event {
        case .offer(let pushes):
            guard isRunning else { return }
            schedule(.accepted(pushes), after: diskTime)
        case .accepted(let pushes):
            guard !isStorageFailing else { return }
            acknowledge(pushes, model.accept(pushes, at: now))
        case .claimed(let order):
            guard !isStorageFailing else { return machine.claimFailed(order, at: now) }
            let claim = model.claim(order.lane, order.urgency, limit: order.limit, at: now)
            machine.claimed(claim, order, at: now)
        case .settled(let settlements):
            // A failed outbox may have stored them before its answer was lost.
            if !isStorageFailing || chance(0...1) == 0 { model.settle(settlements, at: now) }
            guard !isStorageFailing else { return machine.settleFailed(settlements, at: now) }
            _ = machine.settled(settlements)
        case .atApple(let push):
            receive(push)
        case .answered(let number, let result):
            machine.answered(number, result, at: now)
        case .notStarted(let number):
            machine.notStarted(number, at: now)
        case .cancel(let push):
            guard isRunning, !isStorageFailing else { return }
            _ = model.cancel(push.id, of: push.lane.app, at: now)
            machine.markReady(push.lane)
        case .pause(let lane):
            _ = model.pause(lane, by: "operator", at: now)
            syncPauses()
        case .resume(let lane):
            _ = model.resume(lane)
            syncPauses()
        case .purge(let lane):
            guard isRunning, !isStorageFailing else { return }
            _ = model.purge(lane, upTo: nil, limit: 10, at: now)
            machine.markReady(lane)
        case .sweep:
            sweep()
        case .wake:
            break
        case .crash:
            crash()
        case .restart:
            restart()
        }
    }

    private mutating func carryOut() throws(Violation) {
        let actions = machine.takeActions(at: now)
        try checkFairness(actions.sends)
        if let push = actions.sends.first(where: { push in model.allPauses.contains { $0.lane == push.push.lane } }) {
            throw Violation(description: "\(push.push.id) is sent, and its lane is paused")
        }
        for claim in actions.claims { schedule(.claimed(claim), after: diskTime) }
        for push in actions.sends { schedule(.atApple(push), after: chance(1...100)) }
        if !actions.settlements.isEmpty { schedule(.settled(actions.settlements), after: diskTime) }
        if let next = machine.nextTime(after: now), wakesAt.map({ next < $0 || $0 <= now }) ?? true {
            wakesAt = next
            schedule(.wake, after: next - now)
        }
    }

    // MARK: The callers

    private mutating func plan(_ number: Int64) {
        let time = chance(0...90_000)
        let key = chance(0...9)
        let lane = Self.lanes[Int(chance(0...2))]
        var push = OutboxPush.broadcast(number, lane, priority: ["10", "5", "10"][Int(chance(0...2))])
        if key < 4 { push.orderKey = "activity-\(key)" }
        if chance(0...4) == 0 { push.expiresAt = begin + time + chance(0...7_200_000) }
        // A scheduled push may overtake; only the order of the others is checked.
        if chance(0...4) == 0, push.orderKey == nil { push.notBefore = begin + time + chance(0...7_200_000) }
        schedule(.offer([push]), after: time, anyLife: true)
        if chance(0...9) == 0 { schedule(.cancel(push), after: time + chance(0...60_000), anyLife: true) }
    }

    /// An operator pauses a lane, may purge it, and resumes it.
    private mutating func planPause() {
        let lane = Self.lanes[Int(chance(0...2))]
        let time = chance(0...120_000)
        let length = chance(0...3_600_000)
        schedule(.pause(lane), after: time, anyLife: true)
        if chance(0...2) == 0 { schedule(.purge(lane), after: time + chance(0...length), anyLife: true) }
        schedule(.resume(lane), after: time + length, anyLife: true)
    }

    /// One app hands in many at once.
    private mutating func planFlood() {
        let lane = Self.lanes[Int(chance(0...2))]
        let pushes = (0..<chance(15...50)).map { OutboxPush.broadcast(1_000 + $0, lane) }
        schedule(.offer(pushes), after: chance(0...90_000), anyLife: true)
    }

    private mutating func acknowledge(_ pushes: [OutboxPush], _ answers: [Acceptance]) {
        for (push, answer) in zip(pushes, answers) where answer == .accepted {
            offered.append(push)
            acknowledged.insert(push.id)
            machine.markReady(push.lane, push.urgency)
        }
    }

    // MARK: Apple

    private mutating func receive(_ push: ClaimedPush) {
        let isOut = outage.contains(now)
        let dice = chance(0...99)
        let result: SendResult
        switch dice {
        case _ where isOut && dice < 50:
            result = .neverSent(reason: "ConnectionFailed", retryAfter: dice < 10 ? 30_000 : nil)
        case _ where isOut: result = .refused(status: 503, reason: nil, timestamp: nil, retryAfter: nil)
        case 0..<4: result = .refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: 5_000)
        case 4..<7: result = .refused(status: 500, reason: .internalServerError, timestamp: nil, retryAfter: nil)
        case 7..<10: result = .refused(status: 410, reason: .unregistered, timestamp: 1, retryAfter: nil)
        case 10..<12: result = .refused(status: 403, reason: .invalidProviderToken, timestamp: nil, retryAfter: nil)
        case 12..<16: result = .neverSent(reason: "ConnectionFailed", retryAfter: nil)
        case 16..<20: result = .unknown
        case 24..<28: return schedule(.notStarted(push.number), after: 250)
        case 20..<24:
            delivered.append(push.push.id)
            result = dice < 22 ? .unknown : .lost
        default:
            delivered.append(push.push.id)
            result = .accepted(uniqueID: nil)
        }
        schedule(.answered(push.number, result), after: chance(1...100))
    }

    // MARK: The process

    private mutating func crash() {
        guard isRunning else { return }
        isRunning = false
        // Writes and sends in progress may have completed.
        for pending in agenda where pending.life == life && chance(0...1) == 0 {
            switch pending.event {
            case .accepted(let pushes) where !isStorageFailing:
                // Kept, and never acknowledged: it ends like any other.
                if model.accept(pushes, at: now).contains(.accepted) { offered += pushes }
            case .settled(let settlements) where !isStorageFailing: model.settle(settlements, at: now)
            case .atApple(let push): delivered.append(push.push.id)
            default: break
            }
        }
        life += 1
        wakesAt = nil
        model.restart(inOrder: false)
        schedule(.restart, after: chance(100...30_000), anyLife: true)
    }

    private mutating func restart() {
        guard !isRunning else { return }
        isRunning = true
        passedOver = [:]
        limits.inFlight = Int(chance(1...8))
        limits.inFlightPerLane = Int(chance(1...4))
        limits.claimedAhead = Int(chance(2...6))
        machine = DeliveryMachine(limits: limits, seed: generator.next())
        for lane in Self.lanes { machine.add(lane, rate: chance(0...3) == 0 ? 20 : nil, at: now) }
        syncPauses()
    }

    private mutating func syncPauses() { machine.pauseManually(Set(model.allPauses.map(\.lane))) }

    /// Ends expired pushes now and then.
    private mutating func sweep() {
        if isRunning, !isStorageFailing {
            for push in model.expire(at: now, limit: 10) { machine.markReady(push.lane) }
        }
        if model.liveCount > 0 || now < begin + 300_000 {
            schedule(.sweep, after: now < begin + 300_000 ? 5_000 : 600_000, anyLife: true)
        }
    }

    /// The duration of the next operation on the disk.
    private var diskTime: Int64 {
        mutating get { slowness.contains(now) ? chance(500...3_000) : chance(1...20) }
    }

    private var isStorageFailing: Bool { storageFailure.contains(now) }

    // MARK: Checks

    private func check() throws(Violation) {
        for push in offered {
            guard let outcome = model.outcomes[push.id] else { throw Violation(description: "\(push.id) never ended") }
            let times = delivered.count { $0 == push.id }
            if outcome.state == .delivered, times == 0 {
                throw Violation(description: "\(push.id) is said to be delivered, and Apple never saw it")
            }
            if times > 1, outcome.unknownTries == 0 {
                throw Violation(description: "\(push.id) was delivered \(times) times, and the outcome does not say so")
            }
            if outcome.state != .delivered, times > 0, outcome.unknownTries == 0 {
                throw Violation(description: "\(push.id) was delivered, and is said to be \(outcome)")
            }
        }
        guard acknowledged.isSubset(of: Set(offered.map(\.id))), machine.isIdle, model.liveCount == 0 else {
            throw Violation(description: "\(model.liveCount) are left, of which the relay has \(machine.inFlight)")
        }
        try checkOrder()
    }

    /// However many pushes one app has, each lane that may send gets its turn when the others have had theirs; and in a
    /// lane nothing goes while something more urgent is at hand.
    private mutating func checkFairness(_ sends: [ClaimedPush]) throws(Violation) {
        for lane in Self.lanes {
            guard let state = machine.lanes[lane] else { continue }
            let own = sends.filter { $0.push.lane == lane }
            let isHeldUp = own.isEmpty && state.rate == nil && state.maySend(limits.inFlightPerLane, at: now)
            passedOver[lane] = isHeldUp ? passedOver[lane, default: 0] + sends.count : 0
            if let count = passedOver[lane], count >= Self.lanes.count {
                throw Violation(description: "\(lane) waits while \(count) pushes of others go")
            }
            for push in own where state.queues[..<push.push.urgency.rawValue].contains(where: { !$0.isEmpty }) {
                throw Violation(description: "\(push.push.urgency) goes before something more urgent in \(lane)")
            }
        }
    }

    private func checkOrder() throws(Violation) {
        for (key, line) in Dictionary(
            grouping: offered.filter { $0.orderKey != nil },
            by: { "\($0.lane)\($0.orderKey ?? "")" }
        ) {
            let order = Dictionary(uniqueKeysWithValues: line.enumerated().map { ($1.id, $0) })
            let places = delivered.compactMap { order[$0] }
            if places != places.sorted() { throw Violation(description: "\(key) came as \(places)") }
        }
    }

    // MARK: Time and chance

    private mutating func chance(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }

    private mutating func schedule(_ event: Event, after delay: Int64, anyLife: Bool = false) {
        count += 1
        let scheduled = Scheduled(time: now + delay, order: count, life: anyLife ? -1 : life, event: event)
        guard scheduled.time < begin + Self.end else { return }
        // The next one last.
        let index = agenda.partitioningIndex { ($0.time, $0.order) < (scheduled.time, scheduled.order) }
        agenda.insert(scheduled, at: index)
    }
}

extension Array {
    /// The first index from which on `isAfter` is true of all.
    fileprivate func partitioningIndex(where isAfter: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
