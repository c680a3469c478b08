/// Requests that wait their turn, first in, first out, with constant cost at both ends.
struct RequestQueue<Request> {
    private var slots: [Request?] = []
    private var head = 0

    var isEmpty: Bool { head == slots.count }

    var count: Int { slots.count - head }

    mutating func append(_ request: Request) {
        slots.append(request)
    }

    mutating func popFirst() -> Request? {
        guard head < slots.count else { return nil }
        defer { compact() }
        head += 1
        return slots[head - 1].take()
    }

    var all: [Request] { slots[head...].compactMap(\.self) }

    mutating func removeAll() -> [Request] {
        defer { self = RequestQueue() }
        return all
    }

    private mutating func compact() {
        if head == slots.count {
            slots.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1_024, head * 2 > slots.count {
            slots.removeFirst(head)
            head = 0
        }
    }
}
