// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct ExpiryLogTests {
    private func configuration(expiresAt seconds: Int64) -> RelayConfiguration {
        var configuration = RelayConfiguration(data: .file(""), apps: [], listeners: [:])
        let caller = RelayConfiguration.Caller(
            name: "a",
            hash: nil,
            expiresAt: Date(timeIntervalSince1970: Double(seconds)),
            apps: [],
            scopes: [.send]
        )
        configuration.callers = [caller]
        return configuration
    }

    @Test func `warnings are repeated once a day, and an expiry is logged at once`() {
        let day: Int64 = 86_400
        let configuration = configuration(expiresAt: 1_000_000 + day + 100)
        var log = ExpiryLog()
        let times = [0, 1, day - 1, day, day + 99, day + 100, day + 101].map { 1_000_000 + $0 }
        let events = times.map { time in log.take(from: configuration, at: time).map(\.event) }
        #expect(events == [[.callerExpiresSoon], [], [], [.callerExpiresSoon], [], [.callerExpired], []])
    }

    @Test func `a clock that was set back repeats no warning`() {
        let configuration = configuration(expiresAt: 1_000_000)
        var log = ExpiryLog()
        let events = [1_000_010, 999_000, 999_001].map { log.take(from: configuration, at: $0).map(\.event) }
        #expect(events == [[.callerExpired], [], []])
    }
}
