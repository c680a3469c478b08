// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTP2ServedClientTests {
    private let load = HTTP2ServerLoad()
    private var client: HTTP2ServedClient

    init() {
        client = HTTP2ServedClient(HTTP2IdleMonitor(HTTP2Timeouts(), at: .zero), load: load)
    }

    @Test mutating func `the load contains the incomplete requests of all clients`() {
        var other = HTTP2ServedClient(HTTP2IdleMonitor(HTTP2Timeouts(), at: .zero), load: load)
        client.count(heldBytes: 3_000)
        other.count(heldBytes: 500)
        client.count(heldBytes: 1_000)
        #expect(load.memory.byteCount == 1_500 && client.heldBytes == 1_000)
        client.count(heldBytes: 0)
        #expect(load.memory.byteCount == 500)
    }

    @Test mutating func `clients without credentials have half of the memory`() {
        var closings = 0
        load.onExcess = { closings += 1 }
        client.count(heldBytes: HeldMemory.defaultLimit / 2)
        #expect(load.memory.excess == nil && closings == 0)
        client.count(heldBytes: HeldMemory.defaultLimit / 2 + 1)
        #expect(load.memory.excess == .unauthenticated && closings == 1)
        client.authenticated()
        #expect(load.memory.excess == nil && load.memory.unauthenticatedByteCount == 0)
        client.count(heldBytes: HeldMemory.defaultLimit + 1)
        #expect(load.memory.excess == .all && closings == 2)
        client.count(heldBytes: 0)
        #expect(load.memory.excess == nil && load.memory.byteCount == 0 && closings == 2)
    }

    @Test mutating func `clients without credentials are closed first`() {
        var other = HTTP2ServedClient(HTTP2IdleMonitor(HTTP2Timeouts(), at: .zero), load: load)
        client.authenticated()
        client.count(heldBytes: HeldMemory.defaultLimit)
        #expect(load.memory.excess == nil)
        other.count(heldBytes: 1)
        #expect(load.memory.excess == .unauthenticated)
        client.count(heldBytes: HeldMemory.defaultLimit + 1)
        other.count(heldBytes: 0)
        #expect(load.memory.excess == .all)
    }

    @Test mutating func `a shutdown is announced once and finished once`() {
        let early = client.finishShutdown()
        #expect(early == nil)
        let (isFirst, isSecond) = (client.announceShutdown(debugData: [1]), client.announceShutdown(debugData: [2]))
        #expect(isFirst && !isSecond)
        let (data, again) = (client.finishShutdown(), client.finishShutdown())
        #expect(data == [1] && again == nil)
        let isThird = client.announceShutdown(debugData: [3])
        #expect(!isThird)
    }
}
