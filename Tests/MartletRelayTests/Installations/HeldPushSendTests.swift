// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSimulator
import Testing

@testable import MartletRelay

/// Pushes that a relay has claimed, and that wait for a slow Apple, when their phone gets another user.
@Suite(.timeLimit(.minutes(10))) struct HeldPushSendTests {
    enum Change: CaseIterable, Sendable {
        case anotherUser
        case signOut
        case erasure
    }

    /// The streams of all connections to Apple.
    private static let streams = 4

    @Test(arguments: Change.allCases)
    func `only pushes on the wire reach Apple after the answer`(change: Change) async throws {
        let bench = try await EnrollmentBench()
        let apple = bench.relay.apple
        await apple.setFaults([SimulatedAPNs.Fault(.limitStreams(1)), SimulatedAPNs.Fault(.delay(.seconds(1)))])
        let anna = try await bench.enroll("anna", #","tokens":{"device":"a1b2"}"#)
        var ids: [String] = []
        for number in 0..<20 {
            // A sign-out does not end pushes to the token, which the back end chose.
            let isToUser = change == .signOut || number % 3 > 0
            let body = #"{"to":\#(isToUser ? #"{"user":"anna"}"# : #""a1b2""#),"payload":{"aps":{"alert":"Hi"}}}"#
            let answer = await bench.relay.ask("POST", "/v1/pushes", body)
            #expect(answer.status == 202, "\(answer.text)")
            let push = answer.json["pushes"]?.elements?.first ?? answer.json
            ids.append(try #require(push["id"]?.stringValue, "\(answer.text)"))
        }
        try await eventually("pushes are claimed", in: bench.relay.parts.dispatcher) { $0.machine.holdsPushes }
        switch change {
        case .anotherUser: _ = try await bench.enroll("bob", #","tokens":{"device":"a1b2"}"#)
        case .signOut: #expect(await bench.phone("DELETE", with: anna.secret).status == 204)
        case .erasure: #expect(await bench.ask("DELETE", "/users/anna").status == 200)
        }
        let before = await apple.pushCount
        var states: [String: Int] = [:]
        for id in ids {
            let status = await bench.relay.ask("GET", "/v1/pushes/\(id)?wait=60")
            states[status.json["state"]?.stringValue ?? status.text, default: 0] += 1
        }
        let after = await apple.pushCount
        #expect(after <= before + Self.streams, "\(states)")
        #expect(Set(states.keys).isSubset(of: ["delivered", "cancelled"]), "\(states)")
        #expect(states["delivered"] ?? 0 == after, "\(states)")
        await bench.stop()
    }
}
