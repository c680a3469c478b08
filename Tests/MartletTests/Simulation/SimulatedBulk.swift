// SPDX-License-Identifier: Apache-2.0

import MartletTransport

@testable import Martlet

/// A source, lanes and a reader around one `BulkMachine`, each as quick or slow as the seed has it.
struct SimulatedBulk {
    /// A rule that was broken.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private var random: SplitMix64
    private var machine: BulkMachine
    private let count: Int
    private let stopsAt: Int?
    /// The step from which on the server does not answer; nil for a server that always does.
    private let failsAt: Int?
    /// The number of devices that were read after the last answer.
    private var readUnanswered = 0
    /// The part of a grant that has not been used.
    private var grant: BulkMachine.Grant?
    private var isReadingOver = false
    private var read = 0
    private var lanes: [Int]
    private var unread = 0
    private var taken = 0
    private var steps = 0

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        let laneCount = Int.random(in: 1...4, using: &random)
        machine = BulkMachine(window: Int.random(in: 1...300, using: &random), lanes: laneCount)
        failsAt = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0...500, using: &random) : nil
        count = Int.random(in: 0...(failsAt == nil ? 1_000 : 10_000), using: &random)
        stopsAt = Bool.random(using: &random) ? Int.random(in: 0...3_000, using: &random) : nil
        lanes = Array(repeating: 0, count: laneCount)
    }

    /// Lets everybody do something in turn until all is accounted for.
    ///
    /// - Throws: ``Violation`` when a rule is broken.
    mutating func run() throws(Violation) {
        try perform(machine.readerReady())
        let speeds = (0..<3).map { _ in Int.random(in: 1...20, using: &random) }
        while !machine.isFinished {
            steps += 1
            guard steps < 200_000 else { throw Violation(description: "it does not come to an end") }
            if steps == stopsAt { for order in machine.stopped() { try perform(order) } }
            var choice = Int.random(in: 0..<speeds.reduce(0, +), using: &random)
            for (who, speed) in speeds.enumerated() {
                if choice < speed { try act(who) }
                choice -= speed
                if choice < 0 { break }
            }
            try check()
        }
        guard read == taken, read == machine.granted else {
            throw Violation(description: "\(read) devices were read, \(taken) outcomes taken")
        }
        if stopsAt == nil, !machine.isServerUnresponsive, read != count {
            throw Violation(description: "\(read) of \(count) devices were read")
        }
    }

    private mutating func act(_ who: Int) throws(Violation) {
        switch who {
        case 0: try readDevice()
        case 1:
            guard let lane = lanes.indices.filter({ lanes[$0] > 0 }).randomElement(using: &random) else { return }
            let settled = Int.random(in: 1...lanes[lane], using: &random)
            lanes[lane] -= settled
            unread += settled
            try settle(settled, on: lane)
        default:
            guard unread > 0 else { return }
            let share = Int.random(in: 1...min(unread, machine.readingShare), using: &random)
            unread -= share
            taken += share
            try perform(machine.outcomesRead(share))
        }
    }

    private mutating func settle(_ count: Int, on lane: Int) throws(Violation) {
        let isAnswered = failsAt.map { steps < $0 } ?? true
        let isLoss = Bool.random(using: &random)
        machine.settled(
            .init(count: count, isAnswered: isAnswered, notSent: isLoss ? 0 : count - 1, hasLoss: isLoss),
            on: lane
        )
        if isAnswered { readUnanswered = 0 }
        guard machine.isServerUnresponsive else { return }
        guard !isAnswered else { throw Violation(description: "the server has just answered") }
        for action in machine.stopped() { try perform(action) }
    }

    private mutating func readDevice() throws(Violation) {
        guard var current = grant else { return }
        guard read < count, !machine.isStopping || Bool.random(using: &random) else {
            machine.sourceEnded(unused: current.count, of: current)
            grant = nil
            isReadingOver = true
            return
        }
        read += 1
        readUnanswered += 1
        // Each delivery without an answer has at most as many devices as the window.
        guard readUnanswered <= BulkMachine.notSentLimit + (BulkMachine.lossLimit + 2) * machine.window else {
            throw Violation(description: "the server does not answer, and devices are still read")
        }
        lanes[current.lane] += 1
        current.first += 1
        current.count -= 1
        grant = current.count > 0 ? current : nil
        if grant == nil { try perform(machine.readerReady()) }
    }

    private mutating func perform(_ action: BulkMachine.Action?) throws(Violation) {
        switch action {
        case .read(let next):
            guard grant == nil, !isReadingOver else { throw Violation(description: "no reader waits for a grant") }
            guard next.first == read, next.count > 0 else { throw Violation(description: "a place is left out") }
            grant = next
        case .endReading:
            guard grant == nil, !isReadingOver else { throw Violation(description: "no reader waits for the end") }
            isReadingOver = true
        case .cancelUnsent, nil:
            break
        }
    }

    private func check() throws(Violation) {
        let onTheirWay = lanes.reduce(0, +) + unread + (grant?.count ?? 0)
        guard onTheirWay <= machine.window, machine.freeSlots == machine.window - onTheirWay else {
            throw Violation(description: "\(onTheirWay) devices are on their way, \(machine.window) may be")
        }
    }
}
