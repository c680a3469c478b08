// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Martlet

@Suite struct BulkMachineTests {
    typealias Grant = BulkMachine.Grant

    @Test func `each grant to read devices goes to the least busy lane`() {
        var machine = BulkMachine(window: 200, lanes: 2)
        #expect(machine.readerReady() == .read(Grant(lane: 0, first: 0, count: 64)))
        #expect(machine.readerReady() == .read(Grant(lane: 1, first: 64, count: 64)))
        machine.settled(.init(count: 10, isAnswered: true), on: 1)
        #expect(machine.readerReady() == .read(Grant(lane: 1, first: 128, count: 64)))
        #expect(machine.readerReady() == .read(Grant(lane: 0, first: 192, count: 8)))
        #expect(machine.readerReady() == nil)
    }

    @Test(arguments: [(1, 1), (4, 1), (5, 2), (8, 2), (2_048, 512), (Int.max, 512)])
    func `outcomes are delivered by quarters of the window, up to a limit`(window: Int, batch: Int) {
        #expect(BulkMachine(window: window, lanes: 1).batch == batch)
    }

    @Test func `unread outcomes stop the reading of devices`() {
        var machine = BulkMachine(window: 8, lanes: 1)
        #expect(machine.readerReady() == .read(Grant(lane: 0, first: 0, count: 8)))
        #expect(machine.readerReady() == nil)
        machine.settled(.init(count: 8, isAnswered: true), on: 0)
        #expect(machine.freeSlots == 0)
        #expect(machine.outcomesRead(1) == nil)
        #expect(machine.outcomesRead(1) == .read(Grant(lane: 0, first: 8, count: 2)))
    }

    @Test func `a source that ends early returns its unused slots`() {
        var machine = BulkMachine(window: 100, lanes: 1)
        #expect(machine.readerReady() == .read(Grant(lane: 0, first: 0, count: 64)))
        machine.sourceEnded(unused: 63, of: Grant(lane: 0, first: 0, count: 64))
        #expect(machine.freeSlots == 99 && !machine.isSettled)
        machine.settled(.init(count: 1, isAnswered: true), on: 0)
        #expect(machine.isSettled && !machine.isFinished)
        #expect(machine.outcomesRead(1) == nil)
        #expect(machine.isFinished)
    }

    @Test func `stopping ends the reading whether it waits or not`() {
        var waiting = BulkMachine(window: 1, lanes: 1)
        #expect(waiting.readerReady() == .read(Grant(lane: 0, first: 0, count: 1)))
        #expect(waiting.readerReady() == nil)
        #expect(waiting.stopped() == [.cancelUnsent, .endReading])
        #expect(waiting.stopped() == [])
        var reading = BulkMachine(window: 1, lanes: 1)
        #expect(reading.readerReady() == .read(Grant(lane: 0, first: 0, count: 1)))
        #expect(reading.stopped() == [.cancelUnsent])
        #expect(reading.readerReady() == .endReading)
        reading.settled(.init(count: 1, isAnswered: true), on: 0)
        #expect(reading.isSettled)
    }

    @Test func `a server that loses several connections without an answer fails`() {
        var machine = BulkMachine(window: 8, lanes: 1)
        let loss = BulkMachine.Delivery(hasLoss: true)
        for _ in 1..<BulkMachine.lossLimit { machine.settled(loss, on: 0) }
        #expect(!machine.isServerUnresponsive)
        machine.settled(.init(isAnswered: true, hasLoss: true), on: 0)
        for _ in 2..<BulkMachine.lossLimit { machine.settled(loss, on: 0) }
        #expect(!machine.isServerUnresponsive)
        machine.settled(loss, on: 0)
        #expect(machine.isServerUnresponsive)
    }

    @Test func `a server that cannot be reached is unresponsive`() {
        var machine = BulkMachine(window: 8, lanes: 2)
        machine.settled(.init(notSent: BulkMachine.notSentLimit - 1), on: 0)
        #expect(!machine.isServerUnresponsive)
        machine.settled(.init(notSent: 1), on: 1)
        #expect(machine.isServerUnresponsive)
        machine.settled(.init(isAnswered: true), on: 1)
        #expect(!machine.isServerUnresponsive)
    }
}
