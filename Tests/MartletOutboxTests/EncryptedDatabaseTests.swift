// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// An outbox in a database that is spoken to over TLS.
@Suite(.timeLimit(.minutes(10))) struct EncryptedDatabaseTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try await PostgreSQLServer(isEncrypted: true)
        database = try await server.makeDatabase()
    }

    private func address(_ words: String) -> String { server.address(of: database) + "?" + words }

    @Test func `pushes of any size are stored over verified TLS connections`() async throws {
        let certificate = try #require(server.certificate)
        let trusting = address("sslmode=verify-full&sslrootcert=\(certificate)")
        try await OutboxSchema.create(in: trusting)
        let store = try await PostgreSQLOutbox(address: trusting)
        let encrypted = try await server.ask(
            """
            SELECT count(*), bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name LIKE 'martlet relay %'
            """,
            of: database
        )
        #expect(encrypted == "5|t\n")
        // Payloads of many sizes, so that answers end at any position in a TLS record.
        let pushes = try (1...400).map { number in
            try OutboxPush.numbered(number, payload: String(repeating: "x", count: Int(number * 97 % 4_096)))
        }
        _ = try await store.accept(pushes, at: 1_000)
        for start in stride(from: 0, to: pushes.count, by: 40) {
            let claimed = try await store.claim(.orders, .immediate, limit: 40, at: 1_000).pushes
            #expect(claimed.map(\.push.payload) == pushes[start..<start + 40].map(\.payload))
            try await store.settle(
                claimed.map { Settlement($0, .ended(Outcome(.delivered, status: 200))) },
                at: 2_000
            )
        }
        await store.close(isInOrder: true)
    }

    @Test func `an untrusted certificate is refused with the reason`() async throws {
        let other = try await PostgreSQLServer(isEncrypted: true)
        let certificate = try #require(other.certificate)
        let error = await #expect(throws: OutboxError.self) {
            try await OutboxSchema.create(in: address("sslmode=verify-full&sslrootcert=\(certificate)"))
        }
        #expect(error?.description.contains("certificate verify failed") == true, "\(String(describing: error))")
    }
}
