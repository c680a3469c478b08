import Foundation
import MartletTransport
import Testing

@testable import Martlet

@Suite struct PoolTokenMachineTests {
    private static let issuedAt = Date(timeIntervalSince1970: 1_000)
    private var machine = PoolTokenMachine<String>()
    private var now = MonotonicTime.zero

    /// Provides a token for the pushes that wait.
    private mutating func receive(_ issuedAt: Date = issuedAt, validity: Duration = .seconds(60)) -> [String] {
        machine.received(tokenIssuedAt: issuedAt, validity: validity, at: now).ready
    }

    @Test mutating func `the source is asked once for all pushes that wait`() {
        #expect(!machine.isUsable(at: now))
        #expect(machine.wait("a") != nil)
        #expect(machine.wait("b") == nil)
        #expect(receive() == ["a", "b"])
        #expect(machine.isUsable(at: now) && machine.waiting == [])
        now = now.advanced(by: .seconds(60))
        #expect(!machine.isUsable(at: now))
        #expect(machine.wait("c") != nil)
    }

    @Test mutating func `pushes that waited are sent with a token of no validity`() {
        _ = machine.wait("a")
        #expect(receive(validity: .zero) == ["a"])
        #expect(machine.isUsable(at: now))
    }

    @Test mutating func `a source without a token is asked again for the next push`() {
        _ = machine.wait("a")
        #expect(machine.failed().waiting == ["a"])
        #expect(machine.wait("b") != nil)
    }

    @Test mutating func `the source learns once of a rejected token`() {
        _ = machine.wait("a")
        _ = receive()
        machine.rejected(tokenIssuedAt: Date(timeIntervalSince1970: 1))
        #expect(machine.isUsable(at: now), "the rejection of an earlier token")
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        #expect(machine.wait("b")?.rejectedIssuedAt == Self.issuedAt)
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        _ = receive(Self.issuedAt + 1)
        now = now.advanced(by: .seconds(60))
        #expect(machine.wait("c")?.rejectedIssuedAt == nil)
        #expect(machine.count == 2)
    }

    @Test mutating func `the source learns of a token that is rejected while it is asked for the next one`() {
        _ = machine.wait("a")
        _ = receive()
        now = now.advanced(by: .seconds(60))
        _ = machine.wait("b")
        machine.rejected(tokenIssuedAt: Self.issuedAt)
        _ = receive()
        now = now.advanced(by: .seconds(60))
        #expect(machine.wait("c")?.rejectedIssuedAt == Self.issuedAt)
    }

    @Test mutating func `the token of a replaced key is not used`() {
        _ = machine.wait("a")
        #expect(machine.replaced() == ["a"])
        #expect(machine.wait("b") == nil)
        let outdated = machine.received(tokenIssuedAt: Self.issuedAt, validity: .seconds(60), at: now)
        #expect(outdated.ready == [] && outdated.next != nil)
        #expect(machine.replaced() == ["b"])
        let failure = machine.failed()
        #expect(failure.waiting == [] && failure.next != nil)
        _ = receive()
        #expect(machine.replaced() == [] && !machine.isUsable(at: now))
    }

    @Test mutating func `pushes of a closed connection stop waiting`() {
        _ = machine.wait("a")
        _ = machine.wait("b")
        #expect(machine.remove { $0 == "a" } == ["a"])
        #expect(receive() == ["b"])
    }
}
