import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// Stories told to the machine as facts, and the orders it gives, in words.
@Suite struct PoolMachineTests {
    // MARK: Streams

    @Test func `the first push opens a connection and goes out when it is there`() {
        var story = PoolStory()
        story.submit("a", "b", "c")
        #expect(story.orders() == ["connect 1"])
        story.machine.connected(1, at: story.now)
        #expect(story.orders() == ["open a on 1"], "until its settings come, a server is taken to allow one stream")
        story.machine.allowed(streams: 2, on: 1, at: story.now)
        #expect(story.orders() == ["open b on 1"])
        story.accept("a")
        #expect(story.orders() == ["accept a", "open c on 1"])
    }

    @Test func `with a provider token one push goes out until it is answered, on every connection`() {
        var story = PoolStory(startsWithOneStream: true)
        story.submit("a", "b", "c")
        story.open()
        #expect(story.orders() == ["connect 1", "open a on 1"])
        story.accept("a")
        #expect(story.orders() == ["accept a", "open b on 1", "open c on 1"])
        story.disconnect()
        story.submit("d", "e")
        story.open(2)
        #expect(story.orders() == ["connect 2", "open d on 2"])
    }

    @Test func `a limit that shrinks is kept to, and one that grows is used`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", "b", "c")
        story.open(streams: 3)
        story.submit("d", "e")
        story.machine.allowed(streams: 1, on: 1, at: story.now)
        _ = story.orders()
        story.accept("a")
        story.accept("b")
        #expect(story.orders() == ["accept a", "accept b"])
        story.accept("c")
        #expect(story.orders() == ["accept c", "open d on 1"])
        story.machine.allowed(streams: 2, on: 1, at: story.now)
        #expect(story.orders() == ["open e on 1"])
    }

    @Test func `a server that allows no streams at all makes pushes wait until their time is up`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", timeout: .seconds(3))
        story.machine.connected(1, at: story.now)
        story.accept("a")
        story.machine.allowed(streams: 0, on: 1, at: story.now)
        story.submit("b", timeout: .seconds(3))
        _ = story.orders()
        story.wait(.seconds(4))
        #expect(story.orders() == ["fail b: timedOut, neverSent"])
    }

    @Test func `a push whose timeout has passed already is not sent`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", timeout: .seconds(-1))
        #expect(story.orders() == ["fail a: timedOut, neverSent"])
    }

    @Test func `more waiting pushes than allowed are refused`() {
        var story = PoolStory(waitingLimit: 1)
        story.submit("a", "b")
        #expect(story.orders() == ["connect 1", "fail b: overloaded, neverSent"])
    }

    @Test func `a connection whose stream numbers are used up is replaced without a loss`() {
        var story = PoolStory()
        story.submit("a", "b")
        story.open()
        story.accept("a")
        _ = story.orders()
        story.machine.notOpened(story.push("b"), on: 1, at: story.now)
        #expect(story.orders() == ["close 1", "connect 2"])
        story.disconnect(.closedLocally)
        story.open(2)
        #expect(story.orders() == ["open b on 2"])
    }

    @Test func `a push whose connection has gone before it could be opened goes elsewhere`() {
        var story = PoolStory()
        story.submit("a")
        story.open()
        #expect(story.orders() == ["connect 1", "open a on 1"])
        story.disconnect()
        story.machine.notOpened(story.push("a"), on: 1, at: story.now)
        story.wait(.seconds(1))
        story.open(2)
        #expect(story.orders().contains("open a on 2"))
    }

    @Test func `a push for which no provider token can be had ends, even when its connection has gone`() {
        var story = PoolStory(startsWithOneStream: true)
        story.submit("a")
        story.open()
        _ = story.orders()
        story.disconnect()
        let error = APNsError(.badCredentials, description: "no token")
        story.machine.unsendable(story.push("a"), on: 1, error, at: story.now)
        #expect(story.orders().contains { $0.hasPrefix("fail a") })
    }

    @Test func `connections are renewed when what is in flight has ended, and unused ones stay`() {
        var story = PoolStory()
        story.submit("a")
        story.open()
        _ = story.orders()
        story.machine.renewConnections(at: story.now)
        story.submit("b")
        #expect(story.orders() == ["connect 2"])
        story.accept("a")
        #expect(story.orders() == ["accept a", "close 1"])
        story.disconnect(.closedLocally)
        story.open(2)
        #expect(story.orders() == ["open b on 2"])
    }

    // MARK: How many connections

    @Test func `a cold burst opens one connection`() {
        var story = PoolStory(startsWithOneStream: true)
        for number in 0..<90 { story.submit("\(number)") }
        story.wait(.seconds(1))
        #expect(story.orders() == ["connect 1"])
    }

    @Test func `pushes that wait for a stream open further connections, up to the limit`() {
        var story = PoolStory(connectionLimit: 2)
        story.submit("a")
        story.open(streams: 1)
        story.accept("a")
        story.submit("b", "c", "d")
        _ = story.orders()
        story.wait(.milliseconds(49))
        #expect(story.orders() == [])
        story.wait(.milliseconds(2))
        #expect(story.orders() == ["connect 2"])
        story.open(2, streams: 1)
        #expect(story.orders() == ["open c on 2"])
        story.accept("c", on: 2)
        story.submit("e")
        story.wait(.seconds(1))
        #expect(story.orders() == ["accept c", "open d on 2"], "two are as many as there may be")
    }

    @Test func `a connection that is no longer needed is let go, and the first one stays`() {
        var story = PoolStory()
        story.submit("a")
        story.open(streams: 1)
        story.accept("a")
        story.submit("b", "c")
        story.wait(.milliseconds(60))
        story.open(2, streams: 1)
        story.accept("b")
        story.accept("c", on: 2)
        _ = story.orders()
        story.wait(PoolMachine.idleTimeout + .seconds(1))
        #expect(story.orders() == ["close 2"])
        story.disconnect(.closedLocally, on: 2)
        story.wait(PoolMachine.idlePingInterval - PoolMachine.idleTimeout)
        #expect(story.orders() == ["ping 1"])
    }

    @Test func `connections that are wanted are opened one after the other and kept`() {
        var story = PoolStory()
        story.machine.warmUp(to: 3, at: story.now)
        #expect(story.orders() == ["connect 1"])
        story.open()
        #expect(story.orders() == ["connect 2"])
        story.open(2)
        story.open(3)
        #expect(story.orders() == ["connect 3"])
        #expect(story.machine.isWarm)
        story.wait(PoolMachine.idleTimeout + .seconds(1))
        #expect(story.orders() == [])
    }

    @Test func `connections beyond a lower limit end what they have, and a higher one lets others be opened`() {
        var story = PoolStory()
        // Nothing is opened before something is to be sent.
        story.machine.limitConnections(to: 4, at: story.now)
        #expect(story.orders() == [])
        story.machine.warmUp(to: 3, at: story.now)
        for id in 1...3 { story.open(id, streams: 1) }
        story.submit("a", "b", "c")
        _ = story.orders()
        story.machine.limitConnections(to: 1, at: story.now)
        #expect(story.orders() == [])
        story.accept("c", on: 3)
        story.submit("d")
        #expect(story.orders() == ["accept c", "close 3"])
        story.accept("a")
        #expect(story.orders() == ["accept a", "open d on 1"])
        story.accept("b", on: 2)
        #expect(story.orders() == ["accept b", "close 2"])
        story.submit("e")
        story.wait(.seconds(1))
        #expect(story.orders() == [])
        story.disconnect(.closedLocally, on: 2)
        story.disconnect(.closedLocally, on: 3)
        _ = story.orders()
        // What was to be kept comes back as far as the limit allows.
        story.machine.limitConnections(to: 2, at: story.now)
        #expect(story.orders() == ["connect 4"])
        #expect(!story.machine.isWarm)
        // One that is being opened when the limit falls is not kept.
        story.machine.limitConnections(to: 1, at: story.now)
        story.open(4)
        #expect(story.orders() == ["close 4"])
        #expect(story.machine.isWarm)
    }

    // MARK: Connections that fail

    @Test func `connecting is tried again, later and later, one attempt at a time`() {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(retries: 100), timeout: .seconds(3_600))
        var times: [Duration] = []
        for _ in 0..<12 {
            let start = story.now
            while story.orders() != ["connect \(times.count + 1)"] { story.wait(.milliseconds(5)) }
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
        #expect(story.orders() == ["connect 1"])
        story.wait(.seconds(1))
        story.disconnect(.nameNotResolved, on: 2)
        #expect(story.orders() == ["connect 2", "fail a: nameNotResolved, neverSent"])
        story.wait(.seconds(1))
        story.open(3)
        #expect(story.orders() == ["connect 3", "open b on 3"])
    }

    @Test(arguments: [WireError.Kind.certificateRejected, .notHTTP2, .badCredentials])
    func `what will not get better by itself fails everything at once`(kind: WireError.Kind) {
        var story = PoolStory()
        story.submit("a", "b", retry: .standard)
        story.disconnect(kind)
        #expect(story.orders().count == 3)
        #expect(story.machine.waitingCount == 0)
    }

    @Test func `a connection that is rejected fails nothing as long as another is good`() {
        var story = PoolStory()
        story.submit("a")
        story.open(streams: 1)
        story.accept("a")
        story.submit("b", "c")
        story.wait(.milliseconds(60))
        story.open(2, streams: 1)
        story.submit("d")
        _ = story.orders()
        story.disconnect(.certificateRejected, on: 2)
        #expect(story.orders() == [])
        story.accept("b")
        #expect(story.orders() == ["accept b", "open d on 1"])
    }

    @Test func `servers that end connections before any answer are not stormed`() {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(retries: 100))
        var connects = 0
        for _ in 0..<1_000 {
            for order in story.orders() where order.hasPrefix("connect") {
                connects += 1
                story.open(connects)
                story.goAway(on: connects)
                story.breakOff("a", isUnprocessed: true, on: connects)
                story.disconnect(on: connects)
            }
            story.wait(.milliseconds(10))
        }
        #expect(connects < 20)
    }

    @Test func `a lost connection leaves what was on it in doubt and loses nothing else`() {
        var story = PoolStory()
        story.submit("a", "b", "c")
        story.open(streams: 2)
        story.accept("a")
        _ = story.orders()
        story.submit("d")
        story.disconnect()
        story.breakOff("b")
        story.breakOff("c")
        #expect(story.orders() == ["connect 2", "fail b: connectionLost, unknown", "fail c: connectionLost, unknown"])
        story.open(2)
        #expect(story.orders() == ["open d on 2"])
    }

    // MARK: GOAWAY and REFUSED_STREAM

    @Test(arguments: ["", "garbage", #"{"reason":"Shutdown"}"#, #"{"reason":7}"#, "[]"])
    func `after GOAWAY, whatever it says, what is open ends and the rest goes elsewhere`(data: String) {
        var story = PoolStory()
        story.submit("a", "b")
        story.open()
        story.accept("a")
        _ = story.orders()
        story.goAway(data)
        story.goAway(data)
        story.submit("c")
        #expect(story.orders() == ["connect 2"])
        story.open(2)
        story.accept("b")
        #expect(story.orders() == ["open c on 2", "accept b", "close 1"])
    }

    @Test func `streams that the server left alone are sent again at once, in front of all others`() {
        var story = PoolStory()
        story.submit("a", "b", "c")
        story.open(streams: 3)
        story.accept("a")
        story.submit("d", "e")
        _ = story.orders()
        story.machine.allowed(streams: 1, on: 1, at: story.now)
        story.breakOff("c", isUnprocessed: true)
        #expect(story.orders() == [])
        story.accept("b")
        story.accept("d")
        #expect(story.orders() == ["accept b", "accept d", "open c on 1"])
    }

    @Test func `a push that is always left alone is given up in the end`() {
        var story = PoolStory()
        story.submit("a")
        story.open()
        for _ in 0..<PoolMachine.unprocessedLimit { story.breakOff("a", isUnprocessed: true) }
        _ = story.orders()
        story.breakOff("a", isUnprocessed: true)
        #expect(story.orders() == ["fail a: connectionLost, unprocessed"])
    }

    // MARK: Silence

    @Test func `a server that falls silent is asked, and left when it does not answer`() {
        var story = PoolStory()
        story.submit("a")
        story.open()
        _ = story.orders()
        story.wait(PoolMachine.silenceTimeout)
        #expect(story.orders() == ["ping 1"])
        story.machine.ponged(on: 1, at: story.now)
        story.wait(PoolMachine.silenceTimeout)
        #expect(story.orders() == ["ping 1"])
        story.wait(PoolMachine.pongTimeout)
        #expect(story.orders() == ["close 1"])
    }

    // MARK: Time and callers

    @Test func `a deadline ends a push wherever it is`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("wire", timeout: .seconds(5))
        story.open(streams: 1)
        story.submit("queue", timeout: .seconds(5))
        _ = story.orders()
        story.wait(.seconds(6))
        #expect(
            story.orders() == ["fail queue: timedOut, neverSent", "reset wire on 1", "fail wire: timedOut, unknown"]
        )
    }

    @Test func `a caller may go away before its push has come, while it waits, on the wire and between tries`() {
        var story = PoolStory(connectionLimit: 1)
        story.machine.cancelled(story.push("early"), at: story.now)
        story.submit("early")
        story.submit("wire", "retry", retry: .standard)
        story.open(streams: 2)
        story.submit("queue")
        story.refuse("retry", .tooManyRequests)
        _ = story.orders()
        #expect(story.machine.counters.notSent == 1)
        story.machine.cancelled(story.push("wire"), at: story.now)
        story.machine.cancelled(story.push("retry"), at: story.now)
        story.machine.cancelled(story.push("retry"), at: story.now)
        #expect(
            story.orders() == ["reset wire on 1", "fail wire: cancelled, unknown", "fail retry: cancelled, answered"]
        )
        story.wait(.seconds(10))
        story.breakOff("wire")
        #expect(story.orders() == [])
    }

    // MARK: Closing

    @Test func `closing lets what there is finish, takes no more, and closes the connections`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("a", "b")
        story.open(streams: 1)
        _ = story.orders()
        story.machine.close(at: story.now)
        story.submit("c")
        #expect(story.orders() == ["fail c: closed, neverSent"])
        story.accept("a")
        #expect(!story.machine.isFinished)
        story.accept("b")
        #expect(story.orders() == ["accept a", "open b on 1", "accept b", "close 1"])
        #expect(story.machine.isFinished)
    }

    @Test func `when time is up everything ends, each as it is known`() {
        var story = PoolStory(connectionLimit: 1)
        story.submit("wire")
        story.open(streams: 1)
        story.submit("queue")
        _ = story.orders()
        story.machine.giveUp(at: story.now)
        #expect(
            story.orders() == [
                "fail queue: closed, neverSent", "reset wire on 1", "fail wire: closed, unknown", "close 1",
            ]
        )
    }
}
