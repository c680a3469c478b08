import Testing

@testable import Wire

/// Who leaves when all places are taken.
@Suite struct HTTP1PlacesTests {
    private let now = HTTP1Places.Time.now

    @Test func `nobody leaves while there are places`() {
        var places = HTTP1Places(limit: 3)
        #expect(places.arrived(1, descriptor: 11, at: now) == nil)
        #expect(places.arrived(2, descriptor: 12, at: now) == nil)
        places.left(1)
        #expect(places.arrived(3, descriptor: 13, at: now) == nil)
    }

    @Test func `the one leaves that has been without a whole request for the longest`() {
        var places = HTTP1Places(limit: 3)
        _ = places.arrived(1, descriptor: 11, at: now)
        _ = places.arrived(2, descriptor: 12, at: now)
        places.rests(1)
        places.answered(1, at: now)
        #expect(places.arrived(3, descriptor: 13, at: now) == 12)
        places.left(2)
        #expect(places.arrived(4, descriptor: 14, at: now) == 11)
    }

    @Test func `nobody leaves who waits for an answer`() {
        var places = HTTP1Places(limit: 2)
        _ = places.arrived(1, descriptor: 11, at: now)
        places.rests(1)
        #expect(places.arrived(2, descriptor: 12, at: now) == nil)
    }

    @Test func `who takes too long for a request leaves, and nobody who waits for an answer`() {
        var places = HTTP1Places(limit: 10)
        for key: UInt in 1...3 { _ = places.arrived(key, descriptor: CInt(key), at: now) }
        places.rests(1)
        places.rests(2)
        places.answered(2, at: now + .seconds(5))
        #expect(places.overdue(since: now - .seconds(1)).isEmpty)
        #expect(places.overdue(since: now + .seconds(4)) == [3])
        #expect(places.overdue(since: now + .seconds(5)).sorted() == [2, 3])
        places.left(3)
        #expect(places.overdue(since: now + .seconds(4)).isEmpty)
    }
}
