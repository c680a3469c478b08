// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// A relay while a transaction of a back end is open.
@Suite(.timeLimit(.minutes(10))) struct OpenTransactionTests {
    @Test func `only the push of an open transaction is refused, with the cause`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
        let lines = LogLines()
        let bench = try await RelayBench(data: .database(server.address(of: database)), log: lines.logger(.warning))
        let ids = (1...3).map { "00000000-0000-4000-8000-00000000000\($0)" }
        func send(_ id: String) async -> RelayBench.Answer {
            await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","id":"\#(id)","payload":{"aps":{"alert":"Hi"}}}"#)
        }
        let transaction = try await OpenTransaction(
            "SELECT martlet.enqueue('orders', '{}', 'com.example.orders', '5d3a6a1c', id => '\(ids[0])');",
            in: database,
            of: server
        )
        async let other = send(ids[1])
        let refused = await send(ids[0])
        #expect(refused.status == 503 && refused.json["retry-after"] == 1, "\(refused)")
        #expect(refused.text.contains("a transaction of a back end that has stored a push with the identifier"))
        let concurrent = await other
        let later = await send(ids[2])
        #expect(concurrent.status < 300 && later.status < 300, "\(concurrent) \(later)")
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 200)
        let events = lines.objects.map { $0["msg"] }
        #expect(events.contains("identifier in open transaction") && !events.contains("outbox unavailable"))
        try await transaction.end()
        let repeated = await send(ids[0])
        #expect(repeated.status < 300, "\(repeated)")
        await bench.stop()
    }
}
