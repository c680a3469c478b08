import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct PushTableTests {
    private var table = PushTable()

    private mutating func insert() -> PushKey {
        table.insert(PushState(APNsID(randomBits: (0, 0)), SendLimits()))
    }

    @Test mutating func `a key is settled forever once its result was taken`() {
        let first = insert()
        table[first].attempts = 3
        #expect(!table.isSettled(first) && table.unsettled == [first])
        table.settle(first, at: .zero)
        #expect(table.isSettled(first) && table.unsettledCount == 0 && !table.isEmpty)
        #expect(table.takeResult(of: first).attempts == 3)
        #expect(table.isEmpty)
        let second = insert()
        #expect(second.index == first.index && second != first)
        #expect(table.isSettled(first) && !table.isSettled(second))
    }

    @Test mutating func `a result has the failure of the push, not that of an earlier attempt`() {
        let keys = [insert(), insert(), insert()]
        for key in keys { table.failed(key, APNsError(.refused, description: "attempt")) }
        for key in keys { table.settle(key, at: .zero) }
        table.failed(keys[1], APNsError(.closed, description: "closed"))
        #expect(table.takeResult(of: keys[0]).failure == nil)
        #expect(table.takeResult(of: keys[1]).failure?.code == .closed)
    }

    @Test mutating func `memory of many pushes is released when all have ended`() {
        let keys = (0..<3_000).map { _ in insert() }
        for key in keys { table.settle(key, at: .zero) }
        for key in keys { _ = table.takeResult(of: key) }
        #expect(table.isEmpty)
        #expect(insert().index == 0 && keys.allSatisfy { table.isSettled($0) })
    }
}
