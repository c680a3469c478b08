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
        client.count(incompleteBytes: 3_000)
        other.count(incompleteBytes: 500)
        client.count(incompleteBytes: 1_000)
        #expect(load.incompleteBytes == 1_500 && client.incompleteBytes == 1_000)
        client.count(incompleteBytes: 0)
        #expect(load.incompleteBytes == 500)
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
