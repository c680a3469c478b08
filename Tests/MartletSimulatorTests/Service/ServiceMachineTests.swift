// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletServer
import MartletTransport
import Testing

@testable import MartletSimulator

/// Decisions of a simulated APNs without sockets or a clock.
@Suite struct ServiceMachineTests {
    private let now: Int64 = 1_795_000_000_000
    private let authorization: String

    init() throws {
        let token = try SigningKey.ephemeral().token(issuedAt: .init(millisecondsSince1970: now))
        authorization = "bearer " + String(decoding: token, as: UTF8.self)
    }

    private func machine(_ faults: [SimulatedAPNs.Fault] = [], streamsBeforeToken: UInt32 = 1) -> ServiceMachine {
        ServiceMachine(
            SimulatedAPNs.Configuration(streamsBeforeToken: streamsBeforeToken, faults: faults, seed: 1)
        )
    }

    private func request(_ device: String = "5d3a6a1c", isSigned: Bool = true) -> APNsRequest {
        var fields: HTTPFields = [
            ":method": "POST", ":path": "/3/device/\(device)", "apns-topic": "com.example.app",
            "apns-push-type": "alert",
        ]
        if isSigned { fields.append("authorization", authorization) }
        return APNsRequest(fields, body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
    }

    @Test func `an accepted token raises the number of streams, and a refusal lowers it`() {
        var machine = machine()
        var client = ClientState()
        #expect(machine.streamLimit(of: client) == 1)
        let accepted = machine.decide(on: request(), from: &client, over: .pushes, at: now)
        #expect(accepted.answer.status == 200)
        #expect(machine.streamLimit(of: client) == 1_000)
        let refused = machine.decide(on: request("none"), from: &client, over: .pushes, at: now)
        #expect(refused.answer.status == 400)
        #expect(machine.streamLimit(of: client) == 1)
    }

    @Test func `a fault limits streams for all connections, or for those of affected requests`() {
        var all = machine([SimulatedAPNs.Fault(.limitStreams(3))], streamsBeforeToken: 10)
        var client = ClientState()
        #expect(all.initialStreams == 3 && all.streamLimit(of: client) == 3)
        all.setFaults([SimulatedAPNs.Fault(.limitStreams(2), count: 1)], seed: 1)
        #expect(all.initialStreams == 10 && all.streamLimit(of: client) == 10)
        _ = all.decide(on: request(), from: &client, over: .pushes, at: now)
        #expect(all.streamLimit(of: client) == 2 && all.streamLimit(of: ClientState()) == 10)
    }

    @Test func `faults refuse as many connections as they say, until faults are replaced`() {
        var machine = machine([SimulatedAPNs.Fault(.refuseConnections(2), count: 1)])
        var client = ClientState()
        var admissions = [machine.admitsConnection()]
        _ = machine.decide(on: request(), from: &client, over: .pushes, at: now)
        admissions.append(machine.admitsConnection())
        machine.setFaults([], seed: 1)
        admissions.append(machine.admitsConnection())
        #expect(admissions == [true, false, true])
    }

    @Test func `a skewed clock is bounded, and the response has its time`() {
        var machine = machine([SimulatedAPNs.Fault(.skewClock(.seconds(Int64.max)))])
        var client = ClientState()
        let decision = machine.decide(on: request(), from: &client, over: .pushes, at: now)
        #expect(machine.evaluator.clockSkew == 100_000_000_000)
        #expect(decision.answer.reason == .expiredProviderToken)
        #expect(decision.response.fields.contains { $0.name == "date" })
    }

    @Test func `the suffix of a device token replaces the acceptance of a push, and no refusal`() {
        var machine = machine()
        var client = ClientState()
        let device = "5d3a00dead"
        let unsigned = machine.decide(on: request(device, isSigned: false), from: &client, over: .pushes, at: now)
        #expect(unsigned.answer.reason == .missingProviderToken && unsigned.injections.isEmpty)
        #expect(machine.decide(onComposed: request("5d3a000413"), at: now).answer.status == 413)
        let signed = machine.decide(on: request(device), from: &client, over: .pushes, at: now)
        #expect(signed.answer.reason == .unregistered && signed.injections.map(\.name) == ["00dead"])
    }

    @Test func `the suffix of a device token selects nothing when the configuration says so`() {
        var machine = ServiceMachine(SimulatedAPNs.Configuration(usesTokenSuffixes: false, seed: 1))
        var client = ClientState()
        let unregistered = machine.decide(on: request("5d3a00dead"), from: &client, over: .pushes, at: now)
        machine.setFaults([], seed: 2)
        let unavailable = machine.decide(on: request("5d3a000503"), from: &client, over: .pushes, at: now)
        #expect([unregistered, unavailable].map(\.answer.status) == [200, 200])
    }

    @Test func `each refusal of a token that a fault declared expired names the fault`() {
        var machine = machine([SimulatedAPNs.Fault(.respond(.expiredProviderToken), count: 1)])
        var client = ClientState()
        for _ in 0..<3 {
            let decision = machine.decide(on: request(), from: &client, over: .pushes, at: now)
            #expect(decision.answer.reason == .expiredProviderToken)
            #expect(decision.injections.map(\.name) == ["respond"])
        }
    }

    @Test(arguments: ["", "42", "{123e4567-e89b-12d3-a456-4266554400a0}"])
    func `a malformed identifier is answered with a generated one`(malformed: String) {
        var machine = machine()
        var client = ClientState()
        var request = request()
        request.headers.id = malformed
        let decision = machine.decide(on: request, from: &client, over: .pushes, at: now)
        #expect(decision.answer.reason == .badMessageID && (try? APNsID(decision.id)) != nil)
    }

    @Test func `a fault changes the answer and not the effect of a request`() {
        var machine = machine([SimulatedAPNs.Fault(.respond(.serviceUnavailable), count: 1)])
        var client = ClientState()
        let decision = machine.decide(on: request(), from: &client, over: .pushes, at: now)
        #expect(decision.evaluated.status == 200 && decision.answer.status == 503)
        #expect(!client.connection.isBound, "the client does not know of the acceptance")
    }

    @Test func `a push from the page is subject to faults that answer, and to no others`() {
        var machine = machine([SimulatedAPNs.Fault(.close), SimulatedAPNs.Fault(.respond(.tooManyRequests))])
        let request = request(isSigned: false)
        let decision = machine.decide(onComposed: request, at: now)
        #expect(decision.answer.reason == .tooManyRequests && decision.injections.map(\.name) == ["respond"])
        var page = ClientState.page
        let (push, others, _) = machine.record(
            request,
            decision,
            number: 7,
            in: "test",
            over: ReceivedPush.noConnection,
            from: &page,
            at: now
        )
        #expect(push.number == 7 && push.namespace == "test" && push.fault == "respond" && others.isEmpty)
    }

    @Test func `requests about anything but channels are refused at the port for channels`() {
        var machine = machine()
        var client = ClientState()
        let decision = machine.decide(on: request(), from: &client, over: .channels, at: now)
        #expect(decision.answer.reason == .badPath)
        #expect(decision.response.fields.contains { $0.name == "apns-request-id" })
    }
}
