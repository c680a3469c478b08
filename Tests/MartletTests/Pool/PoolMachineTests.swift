// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// Sequences of events, and the machine's actions as text.
@Suite struct PoolMachineTests {
    // MARK: Streams

    @Test func `the first push opens a connection and is sent over it`() throws {
        var story = PoolStory()
        story.submit("a", "b", "c")
        #expect(story.actions() == ["connect 1"])
        story.machine.connected(1, at: story.now)
        #expect(story.actions() == ["open a on 1"], "until its settings come, a server is taken to allow one stream")
        story.machine.streamLimitReceived(2, on: 1, at: story.now)
        #expect(story.actions() == ["open b on 1"])
        try story.accept("a")
        #expect(story.actions() == ["accept a", "open c on 1"])
    }

    @Test func `with a provider token, each connection first sends one push`() throws {
        var story = PoolStory(usesProviderTokens: true)
        story.submit("a", "b", "c")
        story.open()
        #expect(story.actions() == ["connect 1", "open a on 1"])
        try story.accept("a")
        #expect(story.actions() == ["accept a", "open b on 1", "open c on 1"])
        story.disconnect()
        story.submit("d", "e")
        story.open(2)
        #expect(story.actions() == ["connect 2", "open d on 2"])
    }

    @Test func `a lowered or raised stream limit applies to the next pushes`() throws {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", "b", "c")
        story.open(streams: 3)
        story.submit("d", "e")
        story.machine.streamLimitReceived(1, on: 1, at: story.now)
        _ = story.actions()
        try story.accept("a")
        try story.accept("b")
        #expect(story.actions() == ["accept a", "accept b"])
        try story.accept("c")
        #expect(story.actions() == ["accept c", "open d on 1"])
        story.machine.streamLimitReceived(2, on: 1, at: story.now)
        #expect(story.actions() == ["open e on 1"])
    }

    @Test func `pushes to a server that allows no streams time out`() throws {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", timeout: .seconds(3))
        story.machine.connected(1, at: story.now)
        try story.accept("a")
        story.machine.streamLimitReceived(0, on: 1, at: story.now)
        story.submit("b", timeout: .seconds(3))
        _ = story.actions()
        story.wait(.seconds(4))
        #expect(story.actions() == ["fail b: timedOut, neverSent"])
    }

    @Test func `a push whose timeout has passed already is not sent`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", timeout: .seconds(-1))
        #expect(story.actions() == ["fail a: timedOut, neverSent"])
    }

    @Test func `more waiting pushes than allowed are refused`() {
        var story = PoolStory(waitingLimit: 1)
        story.submit("a", "b")
        #expect(story.actions() == ["connect 1", "fail b: overloaded, neverSent"])
    }

    @Test func `a connection without stream numbers left is replaced`() throws {
        var story = PoolStory()
        story.submit("a", "b")
        story.open()
        try story.accept("a")
        _ = story.actions()
        story.machine.notOpened(try story.key("b"), on: 1, at: story.now)
        #expect(story.actions() == ["close 1", "connect 2"])
        story.disconnect(.closedLocally)
        story.open(2)
        #expect(story.actions() == ["open b on 2"])
    }

    @Test func `a push that could not be opened is sent on another connection`() throws {
        var story = PoolStory()
        story.submit("a")
        story.open()
        #expect(story.actions() == ["connect 1", "open a on 1"])
        story.disconnect()
        story.machine.notOpened(try story.key("a"), on: 1, at: story.now)
        story.wait(.seconds(1))
        story.open(2)
        #expect(story.actions().contains("open a on 2"))
    }

    @Test func `a connection is renewed after its pushes in flight`() throws {
        var story = PoolStory()
        story.submit("a")
        story.open()
        _ = story.actions()
        story.machine.renewConnections(at: story.now)
        story.submit("b")
        #expect(story.actions() == ["connect 2"])
        try story.accept("a")
        #expect(story.actions() == ["accept a", "close 1"])
        story.disconnect(.closedLocally)
        story.open(2)
        #expect(story.actions() == ["open b on 2"])
    }

    // MARK: Provider tokens

    @Test func `pushes wait for a provider token, which is requested once`() throws {
        var story = PoolStory(usesProviderTokens: true, hasToken: false)
        story.submit("a", "b")
        story.open()
        #expect(story.actions() == ["connect 1", "request token"])
        story.receiveToken()
        #expect(story.actions() == ["open a on 1"])
        try story.accept("a")
        #expect(story.actions() == ["accept a", "open b on 1"])
        try story.accept("b")
        _ = story.actions()
        story.now = story.now.advanced(by: .seconds(3_600))
        story.submit("c")
        #expect(story.actions() == ["request token"], "the token is too old")
    }

    @Test func `pushes without a provider token fail, even when their connection is closed`() throws {
        var story = PoolStory(usesProviderTokens: true, hasToken: false)
        story.submit("a", "b")
        story.open()
        _ = story.actions()
        let error = APNsError(.badCredentials, description: "no token")
        story.machine.tokenFailed(error, at: story.now)
        #expect(story.actions() == ["fail a: badCredentials, neverSent", "fail b: badCredentials, neverSent"])
        #expect(story.results["a"]?.attempts == 0)
        story.submit("c")
        #expect(story.actions() == ["request token"])
        story.disconnect()
        story.machine.tokenFailed(error, at: story.now)
        #expect(story.actions().contains("fail c: badCredentials, neverSent"))
    }

    @Test func `a push that was rejected before it got no provider token keeps that outcome`() throws {
        var story = PoolStory(usesProviderTokens: true)
        story.submit("a", retry: RetryPolicy(hasJitter: false))
        story.open()
        try story.refuse("a", .expiredProviderToken)
        story.disconnect(.closedLocally)
        story.wait(.milliseconds(200))
        story.open(2)
        #expect(story.actions().last == "request token after rejection")
        story.machine.tokenFailed(APNsError(.badCredentials, description: "no token"), at: story.now)
        #expect(story.actions() == ["fail a: badCredentials, answered"])
        #expect(story.results["a"]?.failure?.reason == .expiredProviderToken)
    }

    @Test func `a push that is cancelled while it waits for a token was not sent`() throws {
        var story = PoolStory(usesProviderTokens: true, hasToken: false)
        story.submit("a", "b")
        story.open()
        try story.cancel("a")
        story.receiveToken()
        #expect(story.actions() == ["connect 1", "request token", "fail a: cancelled, neverSent", "open b on 1"])
    }

    @Test func `the token of a replaced key is requested again, and sent on new connections`() throws {
        var story = PoolStory(usesProviderTokens: true, hasToken: false)
        story.submit("a")
        story.open()
        _ = story.actions()
        story.machine.keyReplaced(at: story.now)
        story.disconnect(.closedLocally)
        story.wait(.seconds(1))
        story.open(2)
        #expect(story.actions() == ["close 1", "connect 2"])
        story.receiveToken(1_000)
        #expect(story.actions() == ["request token"])
        story.receiveToken(2_000)
        #expect(story.actions() == ["open a on 2"])
        #expect(story.machine.condition.tokensUsed == 1)
    }

    // MARK: GOAWAY and REFUSED_STREAM

    @Test(arguments: ["", "garbage", #"{"reason":"Shutdown"}"#, #"{"reason":7}"#, "[]"])
    func `after GOAWAY, open pushes end and others use a new connection`(data: String) throws {
        var story = PoolStory()
        story.submit("a", "b")
        story.open()
        try story.accept("a")
        _ = story.actions()
        story.goAway(data)
        story.goAway(data)
        story.submit("c")
        #expect(story.actions() == ["connect 2"])
        story.open(2)
        try story.accept("b")
        #expect(story.actions() == ["open c on 2", "accept b", "close 1"])
    }

    @Test func `an unprocessed push is sent again before waiting ones`() throws {
        var story = PoolStory()
        story.submit("a", "b", "c")
        story.open(streams: 3)
        try story.accept("a")
        story.submit("d", "e")
        _ = story.actions()
        story.machine.streamLimitReceived(1, on: 1, at: story.now)
        try story.breakOff("c", isUnprocessed: true)
        #expect(story.actions() == [])
        try story.accept("b")
        try story.accept("d")
        #expect(story.actions() == ["accept b", "accept d", "open c on 1"])
    }

    @Test func `a push that is never processed fails after a limit`() throws {
        var story = PoolStory()
        story.submit("a")
        story.open()
        for _ in 0..<PoolPushes.unprocessedLimit { try story.breakOff("a", isUnprocessed: true) }
        _ = story.actions()
        try story.breakOff("a", isUnprocessed: true)
        #expect(story.actions() == ["fail a: connectionLost, unprocessed"])
    }

    // MARK: Silence

    @Test func `a silent connection gets a PING, and is closed without a pong`() {
        var story = PoolStory()
        story.submit("a")
        story.open()
        _ = story.actions()
        story.wait(PoolConnections.silenceTimeout)
        #expect(story.actions() == ["ping 1"])
        story.machine.pongReceived(on: 1, at: story.now)
        story.wait(PoolConnections.silenceTimeout)
        #expect(story.actions() == ["ping 1"])
        story.wait(PoolConnections.pongTimeout)
        #expect(story.actions() == ["close 1"])
    }

    // MARK: Time and callers

    @Test func `a deadline ends a push in flight and in the queue`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("wire", timeout: .seconds(5))
        story.open(streams: 1)
        story.submit("queue", timeout: .seconds(5))
        _ = story.actions()
        story.wait(.seconds(6))
        #expect(
            story.actions() == ["reset wire on 1", "fail wire: timedOut, unknown", "fail queue: timedOut, neverSent"]
        )
    }

    @Test func `a push can be cancelled in each of its states`() throws {
        var story = PoolStory(connectionLimit: 1)
        story.submit("early", isCancelled: true)
        story.submit("wire", "retry", retry: .standard)
        story.open(streams: 2)
        story.submit("queue")
        try story.refuse("retry", .tooManyRequests)
        _ = story.actions()
        #expect(story.machine.counters.notSent == 1)
        try story.cancel("wire")
        try story.cancel("retry")
        try story.cancel("retry")
        #expect(
            story.actions() == ["reset wire on 1", "fail wire: cancelled, unknown", "fail retry: cancelled, answered"]
        )
        story.wait(.seconds(10))
        try story.breakOff("wire")
        #expect(story.actions() == [])
    }

    // MARK: Closing

    @Test func `closing finishes the pushes, then closes the connections`() throws {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", "b")
        story.open(streams: 1)
        _ = story.actions()
        story.machine.close(at: story.now)
        story.submit("c")
        #expect(story.actions() == ["fail c: closed, neverSent"])
        try story.accept("a")
        #expect(!story.machine.isFinished)
        try story.accept("b")
        #expect(story.actions() == ["accept a", "open b on 1", "accept b", "close 1"])
        #expect(story.machine.isFinished)
    }

    @Test func `an abandoned shutdown ends each push with its known outcome`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("wire")
        story.open(streams: 1)
        story.submit("queue")
        _ = story.actions()
        story.machine.giveUp(at: story.now)
        #expect(
            story.actions() == [
                "reset wire on 1", "fail wire: closed, unknown", "fail queue: closed, neverSent", "close 1",
            ]
        )
    }
}
