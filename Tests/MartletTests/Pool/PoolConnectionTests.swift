// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// The number of connections, and connections that fail.
@Suite struct PoolConnectionTests {
    // MARK: Number of connections

    @Test func `a cold burst opens one connection`() {
        var story = PoolStory(usesProviderTokens: true)
        for number in 0..<90 { story.submit("\(number)") }
        story.wait(.seconds(1))
        #expect(story.actions() == ["connect 1"])
    }

    @Test func `pushes that wait for a stream open further connections, up to the limit`() throws {
        var story = PoolStory(connectionLimit: 2)
        story.submit("a")
        story.open(streams: 1)
        try story.accept("a")
        story.submit("b", "c", "d")
        _ = story.actions()
        story.wait(.milliseconds(49))
        #expect(story.actions() == [])
        story.wait(.milliseconds(2))
        #expect(story.actions() == ["connect 2"])
        story.open(2, streams: 1)
        #expect(story.actions() == ["open c on 2"])
        try story.accept("c", on: 2)
        story.submit("e")
        story.wait(.seconds(1))
        #expect(story.actions() == ["accept c", "open d on 2"], "two are as many as there may be")
    }

    @Test func `an idle connection is closed, and the first one stays open`() throws {
        var story = PoolStory()
        story.submit("a")
        story.open(streams: 1)
        try story.accept("a")
        story.submit("b", "c")
        story.wait(.milliseconds(60))
        story.open(2, streams: 1)
        try story.accept("b")
        try story.accept("c", on: 2)
        _ = story.actions()
        story.wait(PoolConnections.idleTimeout + .seconds(1))
        #expect(story.actions() == ["close 2"])
        story.disconnect(.closedLocally, on: 2)
        story.wait(PoolConnections.idlePingInterval - PoolConnections.idleTimeout)
        #expect(story.actions() == ["ping 1"])
    }

    @Test func `warm connections are opened one after the other and kept`() {
        var story = PoolStory()
        story.machine.warmUp(to: 3, at: story.now)
        #expect(story.actions() == ["connect 1"])
        story.open()
        #expect(story.actions() == ["connect 2"])
        story.open(2)
        story.open(3)
        #expect(story.actions() == ["connect 3"])
        #expect(story.machine.connections.isWarm)
        story.wait(PoolConnections.idleTimeout + .seconds(1))
        #expect(story.actions() == [])
    }

    @Test func `connections beyond a lowered limit close after their pushes`() throws {
        var story = PoolStory()
        // Nothing is opened before something is to be sent.
        story.machine.limitConnections(to: 4, at: story.now)
        #expect(story.actions() == [])
        story.machine.warmUp(to: 3, at: story.now)
        for id in 1...3 { story.open(id, streams: 1) }
        story.submit("a", "b", "c")
        _ = story.actions()
        story.machine.limitConnections(to: 1, at: story.now)
        #expect(story.actions() == [])
        try story.accept("c", on: 3)
        story.submit("d")
        #expect(story.actions() == ["accept c", "close 3"])
        try story.accept("a")
        #expect(story.actions() == ["accept a", "open d on 1"])
        try story.accept("b", on: 2)
        #expect(story.actions() == ["accept b", "close 2"])
        story.submit("e")
        story.wait(.seconds(1))
        #expect(story.actions() == [])
        story.disconnect(.closedLocally, on: 2)
        story.disconnect(.closedLocally, on: 3)
        _ = story.actions()
        // Warm connections are opened again as far as the limit allows.
        story.machine.limitConnections(to: 2, at: story.now)
        #expect(story.actions() == ["connect 4"])
        #expect(!story.machine.connections.isWarm)
        // A connection that is being opened when the limit falls is closed.
        story.machine.limitConnections(to: 1, at: story.now)
        story.open(4)
        #expect(story.actions() == ["close 4"])
        #expect(story.machine.connections.isWarm)
    }

    // MARK: Connections that fail

    @Test func `connecting is repeated with growing delays, one at a time`() {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(retries: 100), timeout: .seconds(3_600))
        var times: [Duration] = []
        for _ in 0..<12 {
            let start = story.now
            while story.actions() != ["connect \(times.count + 1)"] { story.wait(.milliseconds(5)) }
            times.append(story.now.duration(since: start))
            story.disconnect(.connectionRefused, on: times.count)
        }
        for (index, time) in times.enumerated().dropFirst() {
            let ceiling = min(ReconnectBackoff.baseDelay * (1 << (index - 1)), ReconnectBackoff.maximumDelay)
            #expect(time >= ceiling / 2 && time <= ceiling + .milliseconds(10), "\(index): \(time)")
        }
    }

    @Test func `a push fails when connecting has failed as often as its policy allows`() {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(retries: 1))
        story.submit("b", retry: RetryPolicy(retries: 2))
        story.disconnect(.connectionRefused)
        #expect(story.actions() == ["connect 1"])
        story.wait(.seconds(1))
        story.disconnect(.nameNotResolved, on: 2)
        #expect(story.actions() == ["connect 2", "fail a: nameNotResolved, neverSent"])
        story.wait(.seconds(1))
        story.open(3)
        #expect(story.actions() == ["connect 3", "open b on 3"])
    }

    @Test(arguments: [TransportError.Kind.certificateRejected, .notHTTP2, .badCredentials])
    func `a permanent connection error fails all waiting pushes`(kind: TransportError.Kind) {
        var story = PoolStory()
        story.submit("a", "b", retry: .standard)
        story.disconnect(kind)
        #expect(story.actions().count == 3)
        #expect(story.machine.pushes.queue.readyCount == 0)
    }

    @Test func `two connections lost without an answer fail waiting pushes`() throws {
        var story = PoolStory(usesProviderTokens: true)
        story.submit("a", "b", "c")
        story.submit("d", retry: RetryPolicy(retries: 1))
        story.open()
        #expect(story.actions() == ["connect 1", "open a on 1"])
        story.disconnect()
        try story.breakOff("a")
        #expect(story.actions() == ["fail a: connectionLost, unknown"], "one loss proves nothing")
        story.wait(.seconds(1))
        story.open(2)
        #expect(story.actions() == ["connect 2", "open b on 2"])
        story.disconnect(on: 2)
        try story.breakOff("b", on: 2)
        #expect(story.actions() == ["fail c: connectionLost, neverSent", "fail b: connectionLost, unknown"])
        story.wait(.seconds(1))
        story.open(3)
        #expect(story.actions() == ["connect 3", "open d on 3"])
    }

    @Test func `a rejected connection fails no push while another is open`() throws {
        var story = PoolStory()
        story.submit("a")
        story.open(streams: 1)
        try story.accept("a")
        story.submit("b", "c")
        story.wait(.milliseconds(60))
        story.open(2, streams: 1)
        story.submit("d")
        _ = story.actions()
        story.disconnect(.certificateRejected, on: 2)
        #expect(story.actions() == [])
        try story.accept("b")
        #expect(story.actions() == ["accept b", "open d on 1"])
    }

    @Test func `connections that end without an answer delay the next one`() throws {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(retries: 100))
        var connects = 0
        for _ in 0..<1_000 {
            for action in story.actions() where action.hasPrefix("connect") {
                connects += 1
                story.open(connects)
                story.goAway(on: connects)
                try story.breakOff("a", isUnprocessed: true, on: connects)
                story.disconnect(on: connects)
            }
            story.wait(.milliseconds(10))
        }
        #expect(connects < 20)
    }

    @Test func `a push with a late token avoids a connection after GOAWAY`() {
        var story = PoolStory(usesProviderTokens: true, hasToken: false)
        story.submit("a")
        story.open()
        #expect(story.actions() == ["connect 1", "request token"])
        story.goAway()
        story.receiveToken()
        story.wait(.seconds(1))
        #expect(story.actions() == ["close 1", "connect 2"])
        story.open(2)
        #expect(story.actions() == ["open a on 2"])
    }

    @Test func `pushes that waited for a token respect a lowered stream limit`() throws {
        var story = PoolStory(usesProviderTokens: true)
        story.submit("a")
        story.open(streams: 3)
        try story.accept("a")
        story.now = story.now.advanced(by: .seconds(3_600))
        _ = story.actions()
        story.submit("b", "c", "d")
        #expect(story.actions() == ["request token"])
        story.machine.streamLimitReceived(1, on: 1, at: story.now)
        story.receiveToken(4_600)
        #expect(story.actions() == ["open b on 1"])
        try story.accept("b")
        #expect(story.actions() == ["accept b", "open c on 1"])
        try story.accept("c")
        #expect(story.actions() == ["accept c", "open d on 1"])
    }

    @Test func `a lost connection leaves only its own pushes unknown`() throws {
        var story = PoolStory()
        story.submit("a", "b", "c")
        story.open(streams: 2)
        try story.accept("a")
        _ = story.actions()
        story.submit("d")
        story.disconnect()
        try story.breakOff("b")
        try story.breakOff("c")
        #expect(story.actions() == ["connect 2", "fail b: connectionLost, unknown", "fail c: connectionLost, unknown"])
        story.open(2)
        #expect(story.actions() == ["open d on 2"])
    }
}
