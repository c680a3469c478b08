import Testing

@testable import Wire

/// Who leaves when all places are taken.
@Suite struct HTTP1PlacesTests {
    @Test func `nobody leaves while there are places`() {
        var places = HTTP1Places(limit: 3)
        #expect(places.arrived(1, descriptor: 11) == nil)
        #expect(places.arrived(2, descriptor: 12) == nil)
        places.left(1)
        #expect(places.arrived(3, descriptor: 13) == nil)
    }

    @Test func `the one leaves that has been without a whole request for the longest`() {
        var places = HTTP1Places(limit: 3)
        _ = places.arrived(1, descriptor: 11)
        _ = places.arrived(2, descriptor: 12)
        places.rests(1)
        places.answered(1)
        #expect(places.arrived(3, descriptor: 13) == 12)
        places.left(2)
        #expect(places.arrived(4, descriptor: 14) == 11)
    }

    @Test func `nobody leaves who waits for an answer`() {
        var places = HTTP1Places(limit: 2)
        _ = places.arrived(1, descriptor: 11)
        places.rests(1)
        #expect(places.arrived(2, descriptor: 12) == nil)
    }
}
