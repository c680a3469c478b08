// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Martlet

@Suite struct ProviderTokenMachineTests {
    private let minute: Int64 = 60

    private func machine(
        _ scope: ProviderTokenMachine.Scope = .local,
        issuedAt: Int64 = 0
    ) -> ProviderTokenMachine {
        var machine = ProviderTokenMachine(scope)
        machine.began(using: issuedAt, at: issuedAt)
        return machine
    }

    @Test func `a token is issued once and used for fifty minutes`() {
        #expect(ProviderTokenMachine(.local).action(at: 1_000) == .issue(at: 1_000))
        let machine = machine(issuedAt: 1_000)
        #expect(machine.action(at: 1_000) == .use)
        #expect(machine.secondsUntilRenewal(at: 1_000) == 50 * minute)
        #expect(machine.action(at: 1_000 + 50 * minute - 1) == .use)
        #expect(machine.action(at: 1_000 + 50 * minute) == .issue(at: 1_000 + 50 * minute))
    }

    @Test func `a token that APNs rejects as expired is replaced`() {
        var machine = machine()
        machine.rejected(tokenIssuedAt: 0, at: 30 * minute)
        #expect(machine.secondsUntilRenewal(at: 30 * minute) == 0)
        #expect(machine.action(at: 30 * minute) == .issue(at: 30 * minute))
        machine.began(using: 30 * minute, at: 30 * minute)
        #expect(machine.action(at: 30 * minute) == .use)
    }

    @Test func `the rejection of an earlier token has no effect`() {
        var machine = machine()
        machine.rejected(tokenIssuedAt: 0, at: 10)
        machine.began(using: 20, at: 20)
        machine.rejected(tokenIssuedAt: 0, at: 30)
        #expect(machine.action(at: 30) == .use)
    }

    @Test func `rejected tokens are replaced at most once in twenty minutes`() {
        var machine = machine()
        machine.rejected(tokenIssuedAt: 0, at: 1)
        #expect(machine.action(at: 1) == .issue(at: 1))
        machine.began(using: 1, at: 1)
        machine.rejected(tokenIssuedAt: 1, at: 2)
        #expect(machine.action(at: 20 * minute) == .use)
        #expect(machine.secondsUntilRenewal(at: 2) == 20 * minute - 1)
        #expect(machine.action(at: 20 * minute + 1) == .issue(at: 20 * minute + 1))
    }

    @Test func `a token that was issued and rejected within a second is replaced once`() {
        var machine = machine()
        machine.rejected(tokenIssuedAt: 0, at: 0)
        #expect(machine.action(at: 0) == .issue(at: 0))
        machine.began(using: 0, at: 0)
        machine.rejected(tokenIssuedAt: 0, at: 0)
        #expect(machine.action(at: 0) == .use)
    }

    @Test func `a shared token is replaced no earlier than twenty minutes after its issue`() {
        var machine = machine(.shared)
        machine.rejected(tokenIssuedAt: 0, at: 1)
        #expect(machine.action(at: 20 * minute - 1) == .use)
        #expect(machine.action(forTokenIssuedAt: 0, at: 20 * minute) == .issue(at: 20 * minute))
        #expect(machine.action(forTokenIssuedAt: 1, at: 20 * minute) == .use, "the token of another process")
        machine.began(using: 1, at: 20 * minute)
        #expect(machine.action(at: 20 * minute) == .use)
    }

    @Test func `a clock that is set back needs a new token`() {
        #expect(machine(issuedAt: 10_000).action(at: 9_000) == .issue(at: 9_000))
    }

    @Test func `a small step back of the clock keeps the token`() {
        let machine = machine(issuedAt: 10_000)
        for now in [9_999, 9_940] as [Int64] { #expect(machine.action(at: now) == .use) }
        #expect(machine.action(at: 9_939) == .issue(at: 9_939))
    }

    @Test(arguments: [(1_199, false), (1_200, true)] as [(Int64, Bool)])
    func `a token is replaceable after twenty minutes`(age: Int64, isReplaceable: Bool) {
        #expect(ProviderTokenMachine.isReplaceable(tokenIssuedAt: 500, at: 500 + age) == isReplaceable)
        #expect(ProviderTokenMachine.isReplaceable(tokenIssuedAt: .min, at: age))
        #expect(!ProviderTokenMachine.isReplaceable(tokenIssuedAt: .max, at: age))
    }
}
