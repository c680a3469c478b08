// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventFeedTests {
    private func elements<Element: Sendable>(of stream: AsyncStream<Element>) async -> [Element] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func `each listener reads the events since it began to listen`() async {
        let feed = EventFeed<Int>()
        let all = feed.listen(buffering: .unbounded) { $0 }
        feed.report(1)
        let later = feed.listen(buffering: .unbounded, after: [-2, -1]) { $0 }
        feed.report(contentsOf: [2, 3])
        feed.finish()
        feed.report(4)
        #expect(await elements(of: all) == [1, 2, 3])
        #expect(await elements(of: later) == [-2, -1, 2, 3])
        let last = feed.listen(buffering: .unbounded, after: [5]) { $0 }
        #expect(await elements(of: last) == [5])
    }

    @Test func `a listener filters and maps its elements`() async {
        let feed = EventFeed<Int>()
        let even = feed.listen(buffering: .unbounded) { $0.isMultiple(of: 2) ? "\($0)" : nil }
        feed.report(contentsOf: 1...5)
        feed.finish()
        #expect(await elements(of: even) == ["2", "4"])
    }

    @Test func `a sequence that is full ends, or drops the oldest elements`() async {
        let feed = EventFeed<Int>()
        let ending = feed.listen(buffering: .bufferingOldest(2), endsWhenFull: true) { $0 }
        let dropping = feed.listen(buffering: .bufferingNewest(2)) { $0 }
        feed.report(contentsOf: 1...4)
        #expect(feed.listenerCount == 1)
        #expect(await elements(of: ending) == [1, 2])
        feed.finish()
        #expect(await elements(of: dropping) == [3, 4])
    }
}
