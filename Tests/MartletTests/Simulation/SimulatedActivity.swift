// SPDX-License-Identifier: Apache-2.0

import MartletCore

@testable import Martlet

/// One Live Activity, the phone that shows it, and processes with skewed clocks that share nothing and may restart.
struct SimulatedActivity {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private struct Process {
        /// Changes with a restart.
        var identity: Int
        /// The difference of its clock, in microseconds.
        var skew: Int64
        var timestamps = ActivityTimestamps()
    }

    private struct Push: Equatable {
        var process: Int
        var skew: Int64
        var event: ActivityTimestamps.Event
        var timestamp: Int64
        /// The true time at which it goes out, in microseconds since 1970.
        var sentAt: Int64
        /// Whether APNs accepts it.
        var isAccepted: Bool
    }

    /// A push that is on its way.
    private struct Pending {
        var push: Push
        var slot: ActivityTimestamps.Slot
        /// The true time at which its process learns the result, in microseconds since 1970.
        var answeredAt: Int64
    }

    private static let second: Int64 = 1_000_000
    private static let address = ActivityTimestamps.Address.channel("activity", app: "com.example.app")

    private var random: SplitMix64
    private var processes: [Process] = []
    private var pushes: [Push] = []
    private var pending: [Pending] = []
    private var now: Int64 = 1_790_000_000 * SimulatedActivity.second
    private let restarts: Bool

    init(seed: UInt64, processes count: Int) {
        random = SplitMix64(state: seed)
        restarts = count > 1
        now += Int64.random(in: 0..<SimulatedActivity.second, using: &random)
        for identity in 0..<count {
            processes.append(Process(identity: identity, skew: Int64.random(in: -499_999...499_999, using: &random)))
        }
    }

    /// Starts, updates and ends the activity, and checks the content on the phone.
    ///
    /// - Throws: ``Violation`` when a rule is broken.
    mutating func run() throws(Violation) {
        try send(.start)
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let gaps: [Int64] = [1_000, 1_000_000, 5_000_000]
            let longestGap = gaps.randomElement(using: &random) ?? 0
            now += Int64.random(in: 0...longestGap, using: &random)
            if restarts, Int.random(in: 0..<10, using: &random) == 0 { restart() }
            try send(.update)
        }
        now += Int64.random(in: 0...2_000_000, using: &random)
        try send(.end)
        try show()
    }

    private mutating func send(_ event: ActivityTimestamps.Event) throws(Violation) {
        settle()
        let index = Int.random(in: 0..<processes.count, using: &random)
        let skew = processes[index].skew
        let slot = processes[index].timestamps.next(
            event,
            for: SimulatedActivity.address,
            at: now + skew,
            within: .seconds(60)
        )
        guard let slot else { throw Violation(description: "an update was refused") }
        let push = Push(
            process: processes[index].identity,
            skew: skew,
            event: event,
            timestamp: slot.timestamp,
            sentAt: now + Int64((slot.delay / .microseconds(1)).rounded()),
            isAccepted: event != .update || Int.random(in: 0..<4, using: &random) > 0
        )
        let clock = (push.sentAt + skew) / SimulatedActivity.second
        guard push.timestamp <= clock + (event == .end ? 2 : 0) else {
            throw Violation(description: "a timestamp is \(push.timestamp - clock) s ahead of the clock")
        }
        // Those that hold or have used a second of their own.
        let holders = pushes.filter { other in
            other.process == push.process && other.event != .start
                && (other.isAccepted || pending.contains { $0.push == other })
        }
        if event != .start, let latest = holders.map(\.timestamp).max(), push.timestamp <= latest {
            throw Violation(description: "\(push.timestamp) follows \(latest)")
        }
        let blocking = ActivityTimestamps.Event.update.timestamp(at: now + skew) + (event == .end ? 1 : 0)
        guard slot.delay == .zero || holders.contains(where: { $0.timestamp >= blocking }) else {
            throw Violation(description: "\(push) waits although no push has its second")
        }
        pushes.append(push)
        let latency = Int64.random(in: 1_000...2_000_000, using: &random)
        pending.append(Pending(push: push, slot: slot, answeredAt: push.sentAt + latency))
    }

    /// Tells the processes the results of the pushes that are answered by now.
    private mutating func settle() {
        for answered in pending where answered.answeredAt <= now {
            guard let index = processes.firstIndex(where: { $0.identity == answered.push.process }) else { continue }
            processes[index].timestamps.settle(
                answered.slot,
                for: SimulatedActivity.address,
                isUsed: answered.push.isAccepted
            )
        }
        let now = now
        pending.removeAll { $0.answeredAt <= now }
    }

    /// Restarts a process, which loses its state and its waiting updates.
    private mutating func restart() {
        let index = Int.random(in: 0..<processes.count, using: &random)
        let (old, now) = (processes[index].identity, now)
        pushes.removeAll { $0.process == old && $0.sentAt > now }
        pending.removeAll { $0.push.process == old }
        processes[index] = Process(identity: old + 100, skew: processes[index].skew)
    }

    /// Delivers an update: the phone stores newer content and ignores other updates.
    private func show() throws(Violation) {
        var shown: [Push] = []
        let accepted = pushes.filter(\.isAccepted)
        for push in accepted.enumerated().sorted(by: { ($0.1.sentAt, $0.0) < ($1.1.sentAt, $1.0) }).map(\.element) {
            guard shown.last?.event != .end else { return }
            guard let newest = shown.last?.timestamp, push.timestamp <= newest else {
                shown.append(push)
                continue
            }
            // Only an update by another process, within the same second of the clocks, may make an update stale. The
            // clocks differ by less than a second, so nothing may make an end stale.
            let isExplained =
                push.event == .update
                && shown.contains { rival in
                    rival.process != push.process && rival.event == .update
                        && push.sentAt - rival.sentAt < SimulatedActivity.second + rival.skew - push.skew
                }
            guard isExplained else { throw Violation(description: "the phone ignored \(push)") }
        }
    }
}
