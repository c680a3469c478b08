import Testing

@testable import APNsClient

@Suite struct ConnectionMachineTests {
    private typealias Machine = ConnectionMachine<String>

    private func machine(startsWithOneStream: Bool = false, waitingLimit: Int = 10) -> ConnectionMachine<String> {
        ConnectionMachine(startsWithOneStream: startsWithOneStream, waitingLimit: waitingLimit)
    }

    @Test func `the first request opens the connection and goes out when it is there`() {
        var machine = machine()
        #expect(machine.submitted("a") == .connect)
        #expect(machine.submitted("b") == .wait)
        #expect(machine.nextToOpen() == nil)
        machine.connected()
        #expect(machine.nextToOpen() == "a")
        #expect(machine.nextToOpen() == nil, "until its settings come, a server is taken to allow one stream")
        machine.peerAllows(streams: 10)
        #expect(machine.nextToOpen() == "b")
        #expect(machine.submitted("c") == .open("c"))
    }

    @Test func `with a provider token one request goes out until it is answered`() {
        var machine = machine(startsWithOneStream: true)
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        _ = machine.submitted("c")
        machine.connected()
        machine.peerAllows(streams: 100)
        #expect(machine.nextToOpen() == "a")
        #expect(machine.nextToOpen() == nil)
        machine.answered()
        #expect(machine.nextToOpen() == "b")
        #expect(machine.nextToOpen() == "c")
    }

    @Test func `a request that ends without an answer leaves the one stream rule in force`() {
        var machine = machine(startsWithOneStream: true)
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        _ = machine.submitted("c")
        machine.connected()
        machine.peerAllows(streams: 100)
        #expect(machine.nextToOpen() == "a")
        machine.abandoned()
        #expect(machine.nextToOpen() == "b")
        #expect(machine.nextToOpen() == nil)
    }

    @Test func `streams are shared out first in, first out, also to those that come late`() {
        var machine = machine()
        _ = machine.submitted("a")
        machine.connected()
        machine.peerAllows(streams: 1)
        #expect(machine.nextToOpen() == "a")
        #expect(machine.submitted("b") == .wait)
        #expect(machine.submitted("c") == .wait)
        machine.answered()
        #expect(machine.submitted("d") == .wait, "no one overtakes")
        #expect(machine.nextToOpen() == "b")
        machine.answered()
        #expect(machine.nextToOpen() == "c")
    }

    @Test func `a server that lowers its limit gets no more until it is met`() {
        var machine = machine()
        _ = machine.submitted("a")
        machine.connected()
        machine.peerAllows(streams: 2)
        #expect(machine.nextToOpen() == "a")
        #expect(machine.submitted("b") == .open("b"))
        machine.peerAllows(streams: 1)
        #expect(machine.submitted("c") == .wait)
        machine.answered()
        #expect(machine.nextToOpen() == nil)
        machine.answered()
        #expect(machine.nextToOpen() == "c")
    }

    @Test func `a limit of no streams at all makes requests wait`() {
        var machine = machine(startsWithOneStream: true)
        _ = machine.submitted("a")
        machine.connected()
        machine.peerAllows(streams: 0)
        #expect(machine.nextToOpen() == nil)
        machine.peerAllows(streams: 1)
        #expect(machine.nextToOpen() == "a")
    }

    @Test func `more than the limit of waiting requests is refused`() {
        var machine = machine(waitingLimit: 2)
        #expect(machine.submitted("a") == .connect)
        #expect(machine.submitted("b") == .wait)
        #expect(machine.submitted("c") == .refuseOverload("c"))
    }

    @Test func `a connection that cannot be opened fails all that waited, and the next request tries again`() {
        var machine = machine()
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        #expect(!machine.hasConnected)
        #expect(machine.connectFailed() == ["a", "b"])
        #expect(machine.submitted("c") == .connect)
    }

    @Test func `after GOAWAY requests wait and go onto a new connection`() {
        var machine = machine()
        _ = machine.submitted("a")
        machine.connected()
        machine.peerAllows(streams: 10)
        #expect(machine.nextToOpen() == "a")
        machine.goAwayReceived()
        #expect(machine.submitted("b") == .wait)
        #expect(machine.nextToOpen() == nil)
        machine.answered()
        #expect(machine.disconnected() == .connect)
        machine.connected()
        #expect(machine.nextToOpen() == "b")
    }

    @Test func `a lost connection that no one waits for is not opened again`() {
        var machine = machine()
        _ = machine.submitted("a")
        machine.connected()
        #expect(machine.nextToOpen() == "a")
        machine.abandoned()
        #expect(machine.disconnected() == .rest)
        #expect(machine.submitted("b") == .connect)
    }

    @Test func `a new connection begins with one stream again`() {
        var machine = machine(startsWithOneStream: true)
        _ = machine.submitted("a")
        machine.connected()
        machine.peerAllows(streams: 10)
        #expect(machine.nextToOpen() == "a")
        machine.answered()
        #expect(machine.disconnected() == .rest)
        _ = machine.submitted("b")
        _ = machine.submitted("c")
        machine.connected()
        machine.peerAllows(streams: 10)
        #expect(machine.nextToOpen() == "b")
        #expect(machine.nextToOpen() == nil)
    }

    @Test func `closing lets what there is finish and takes no more`() {
        var machine = machine()
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        machine.connected()
        machine.peerAllows(streams: 1)
        #expect(machine.nextToOpen() == "a")
        machine.close()
        #expect(machine.submitted("c") == .refuseClosed("c"))
        #expect(!machine.isFinished)
        machine.answered()
        #expect(machine.nextToOpen() == "b")
        machine.answered()
        #expect(machine.isFinished)
    }

    @Test func `closing at rest is finished at once`() {
        var machine = machine()
        machine.close()
        #expect(machine.isFinished)
    }

    @Test func `closing while connecting still sends what waited`() {
        var machine = machine()
        _ = machine.submitted("a")
        machine.close()
        #expect(machine.nextToOpen() == nil)
        machine.connected()
        #expect(machine.nextToOpen() == "a")
    }

    @Test func `when time is up, those that never went out are named`() {
        var machine = machine()
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        machine.connected()
        #expect(machine.nextToOpen() == "a")
        machine.close()
        #expect(machine.giveUp() == ["b"])
        machine.abandoned()
        #expect(machine.isFinished)
    }

    @Test func `a connection lost while closing is not opened again`() {
        var machine = machine()
        _ = machine.submitted("a")
        _ = machine.submitted("b")
        machine.connected()
        #expect(machine.nextToOpen() == "a")
        machine.close()
        machine.abandoned()
        #expect(machine.disconnected() == .closed(["b"]))
        #expect(machine.isFinished)
    }
}

extension ConnectionMachine<String>.Submission: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.connect, .connect), (.wait, .wait): true
        case (.open(let left), .open(let right)), (.refuseOverload(let left), .refuseOverload(let right)),
            (.refuseClosed(let left), .refuseClosed(let right)):
            left == right
        default: false
        }
    }
}

extension ConnectionMachine<String>.Aftermath: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.rest, .rest), (.connect, .connect): true
        case (.closed(let left), .closed(let right)): left == right
        default: false
        }
    }
}
