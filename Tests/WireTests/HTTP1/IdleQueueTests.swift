import APNs
import TestSupport
import Testing

@testable import Wire

@Suite struct IdleQueueTests {
    @Test func `the client that was served longest ago comes first`() {
        var queue = IdleQueue<Int>()
        for id in 1...4 { queue.append(id) }
        queue.append(1)
        queue.remove(2)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()] == [3, 4, 1, nil])
    }

    @Test func `it agrees with a list through many changes`() {
        var random = SplitMix64(state: 3)
        var queue = IdleQueue<Int>()
        var list: [Int] = []
        for _ in 0..<50_000 {
            let id = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: #expect(queue.popFirst() == (list.isEmpty ? nil : list.removeFirst()))
            case 1:
                queue.remove(id)
                list.removeAll { $0 == id }
            default:
                queue.append(id)
                list.removeAll { $0 == id }
                list.append(id)
            }
        }
    }
}
