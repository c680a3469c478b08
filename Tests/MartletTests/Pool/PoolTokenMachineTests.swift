// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct PoolTokenMachineTests {
    private static let issuedAt = Date(timeIntervalSince1970: 1_000)
    private var machine = PoolTokenMachine()
    private var table = PushTable()
    private var now = MonotonicTime.zero

    /// Lets a new push wait for a token.
    private mutating func wait(on connection: Int = 1) -> (key: PushKey, request: PoolTokenMachine.Request?) {
        let key = table.insert(PushState(APNsID(randomBits: (0, 0)), SendLimits()))
        return (key, machine.wait(key, for: connection))
    }

    /// Returns the pushes to which an answer of the source applies; nil when it is outdated.
    private func pushes(_ answer: PoolTokenMachine.Answer) -> [PushKey]? {
        if case .current(let pushes) = answer { pushes.map(\.key) } else { nil }
    }

    private mutating func receive(_ issuedAt: Date = issuedAt, validity: Duration = .seconds(60)) -> [PushKey]? {
        pushes(machine.received(tokenIssuedAt: issuedAt, validity: validity, at: now))
    }

    @Test mutating func `the source is asked once for all pushes that wait`() {
        #expect(!machine.isUsable(at: now))
        let (a, request) = wait()
        #expect(request != nil)
        let (b, second) = wait()
        #expect(second == nil)
        #expect(receive() == [a, b])
        #expect(machine.isUsable(at: now) && machine.waiting.isEmpty)
        now = now.advanced(by: .seconds(60))
        #expect(!machine.isUsable(at: now))
        #expect(wait().request != nil)
    }

    @Test mutating func `pushes that waited are sent with a token of no validity`() {
        let a = wait().key
        #expect(receive(validity: .zero) == [a])
        #expect(machine.isUsable(at: now))
    }

    @Test mutating func `a source without a token is asked again for the next push`() {
        let a = wait().key
        #expect(pushes(machine.failed()) == [a])
        #expect(wait().request != nil)
    }

    @Test mutating func `a rejected token is reported to its source once`() {
        _ = wait()
        _ = receive()
        machine.rejected(tokenIssuedAt: Date(timeIntervalSince1970: 1))
        #expect(machine.isUsable(at: now), "the rejection of an earlier token")
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        #expect(wait().request?.rejectedIssuedAt == Self.issuedAt)
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        _ = receive(Self.issuedAt + 1)
        now = now.advanced(by: .seconds(60))
        let request = wait().request
        #expect(request != nil && request?.rejectedIssuedAt == nil)
        #expect(machine.count == 2)
    }

    @Test mutating func `a token rejected during a request is reported to the source`() {
        _ = wait()
        _ = receive()
        now = now.advanced(by: .seconds(60))
        _ = wait()
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        _ = receive()
        now = now.advanced(by: .seconds(60))
        #expect(wait().request?.rejectedIssuedAt == Self.issuedAt)
    }

    @Test mutating func `the token of a replaced key is not used`() {
        let a = wait().key
        #expect(machine.replaced().map(\.key) == [a])
        #expect(wait().request == nil)
        #expect(receive() == nil)
        #expect(machine.replaced().count == 1)
        #expect(pushes(machine.failed()) == nil)
        #expect(receive() == [])
        #expect(machine.replaced().isEmpty && !machine.isUsable(at: now))
    }

    @Test mutating func `pushes of a closed connection stop waiting`() {
        let a = wait(on: 1).key
        let b = wait(on: 2).key
        #expect(machine.closed(1).map(\.key) == [a])
        #expect(receive() == [b])
    }
}
