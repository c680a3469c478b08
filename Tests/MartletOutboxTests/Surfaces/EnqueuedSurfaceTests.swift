// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Requests of back ends in SQL about surfaces.
@Suite(.timeLimit(.minutes(10))) struct EnqueuedSurfaceTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
    }

    /// Opens the outbox, in which the app orders is registered.
    private func open() async throws -> PostgreSQLOutbox {
        let address = server.address(of: database)
        let store = try await PostgreSQLOutbox(address: address, options: .init(lease: .seconds(3_600)))
        _ = try await store.accept([.numbered(1)], at: 10)
        return store
    }

    private func ask(_ sql: String) async throws -> String {
        try await server.ask(sql, of: database).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func put(_ number: Int, _ more: String = "", app: String = "orders") -> String {
        #"SELECT martlet.enqueue_surface('\#(app)', 'order-\#(number)', '{"order": \#(number)}'\#(more))"#
    }

    @Test func `a request is found after its commit, in the order of commits`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        _ = try await ask("BEGIN; \(Self.put(1)); ROLLBACK")
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == [])
        let ids = try await ask(Self.put(2) + ", martlet.enqueue_withdrawal('orders', 'order-1')")
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        #expect(found.map(\.id.description).joined(separator: "|") == ids)
        #expect(found.map(\.surface) == ["order-2", "order-1"] && found.map(\.app) == ["orders", "orders"])
        #expect(found.map { $0.request.map { String(decoding: $0, as: UTF8.self) } } == [#"{"order": 2}"#, nil])
        #expect(found.map(\.caller) == ["role postgres", "role postgres"])
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 1) == [found[0]])
        await store.close(isInOrder: true)
    }

    @Test func `a request is carried out once, with its condition`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        for more in ["", "", ", is_absent => true", ", revision => 9"] { _ = try await ask(Self.put(1, more)) }
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        try #require(found.count == 4)
        let surface = Surface.numbered(1)
        func carryOut(_ place: Int, _ surface: Surface?, limit: Int = 9) async throws -> SurfaceChange? {
            try await requests.carryOut([CheckedSurface(found[place], surface)], limit: limit, at: 20)[0]
        }
        #expect(try await carryOut(0, surface, limit: 0) == .full)
        guard case .changed(let stored)? = try await carryOut(0, surface) else {
            Issue.record("the surface is not stored")
            return
        }
        #expect(stored.surface.caller == "role postgres" && stored.surface.request == surface.request)
        #expect(stored.surface.audience == surface.audience && stored.changedAt == 20)
        #expect(try await carryOut(0, surface) == nil)
        #expect(try await carryOut(1, surface) == .unchanged(stored))
        for place in 2...3 { #expect(try await carryOut(place, surface) == .refused(stored)) }
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == [found[2], found[3]])
        await store.close(isInOrder: true)
    }

    @Test func `a request does not take the channel of another surface`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        try await store.surfaces.putNew(.numbered(2, channel: "X"))
        _ = try await ask(Self.put(1))
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        func carryOut(_ channel: String) async throws -> SurfaceChange? {
            let surface = Surface.numbered(1, channel: channel)
            return try await requests.carryOut([CheckedSurface(found[0], surface)], limit: 9, at: 20)[0]
        }
        #expect(try await carryOut("X") == .channelInUse(by: "order-2"))
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == found)
        guard case .changed(let stored)? = try await carryOut("Y") else {
            Issue.record("the surface is not stored")
            return
        }
        #expect(stored.surface.channel == "Y")
        await store.close(isInOrder: true)
    }

    @Test func `requests are carried out together, in their order`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        _ = try await ask("SELECT martlet.app_number('rides')")
        let bodies = [
            Self.put(1), Self.put(1, ", revision => 1"), "SELECT martlet.enqueue_withdrawal('orders', 'order-2')",
            Self.put(2), Self.put(1, ", is_absent => true"), Self.put(1), Self.put(3),
            "SELECT martlet.enqueue_withdrawal('orders', 'order-3')", Self.put(1, app: "rides"),
        ]
        for body in bodies { _ = try await ask(body) }
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        try #require(found.count == 9)
        let checked = found.enumerated().map { place, request in
            let surface = Surface.numbered(1, app: request.app, request: "\(place)")
            return CheckedSurface(request, request.request == nil ? nil : surface)
        }
        let changes = try await requests.carryOut(Array(checked.reversed()), limit: 9, at: 20)
        let results = changes.reversed().map { change -> String in
            switch change {
            case .changed(let stored): "\(stored.surface.app) \(stored.surface.id) \(stored.revision)"
            case .refused(let stored): "refused \(stored?.revision ?? 0)"
            case let change: String(describing: change)
            }
        }
        let expected = [
            "orders order-1 1", "orders order-1 2", "refused 0", "nil", "refused 2", "nil", "orders order-3 1",
            "orders order-3 2", "rides order-1 1",
        ]
        #expect(results == expected)
        // Those about a surface follow once the refused one is removed.
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == Array(found[2...5]))
        let refusals = [found[2], found[4]].map { RefusedSurface($0, Outcome(.refused, status: 412), in: .production) }
        #expect(try await requests.refuse(refusals, at: 20).map(\.id) == [found[2].id, found[4].id])
        let rest = [CheckedSurface(found[3], .numbered(2)), CheckedSurface(found[5], .numbered(1))]
        let last = try await requests.carryOut(rest, limit: 9, at: 30)
        #expect(last.count == 2 && !last.contains(nil))
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == [])
        #expect(try await store.surfaces.surface("order-1", of: "orders")?.revision == 3)
        await store.close(isInOrder: true)
    }

    @Test func `the users of a surface are those of its audience`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        _ = try await ask(Self.put(1))
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        let users = ["anna", #"é "quoted" \ "#]
        let surface = Surface.numbered(1, to: .users(users))
        _ = try await requests.carryOut([CheckedSurface(found[0], surface)], limit: 9, at: 20)
        for user in users + ["bob"] {
            let named = try await store.surfaces.surfaces(for: user, Installation.numbered(1).id, of: "orders")
            #expect(named.count == (user == "bob" ? 0 : 1), "\(user)")
        }
        await store.close(isInOrder: true)
    }

    @Test func `apps take turns in requests`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        _ = try await ask("SELECT martlet.app_number('rides')")
        for number in 1...5 { _ = try await ask(Self.put(number)) }
        _ = try await ask(Self.put(6, app: "rides"))
        for (limit, surfaces) in [1: [1], 2: [1, 6], 3: [1, 2, 6], 6: [1, 2, 3, 4, 5, 6]] {
            let found = try await requests.enqueuedSurfaces(of: nil, limit: limit)
            #expect(found.map(\.surface) == surfaces.map { "order-\($0)" })
        }
        let found = try await requests.enqueuedSurfaces(of: "rides", limit: 9)
        #expect(found.map(\.surface) == ["order-6"])
        await store.close(isInOrder: true)
    }

    @Test func `a withdrawal is carried out`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        try await store.surfaces.putNew(.numbered(1))
        _ = try await ask("SELECT martlet.enqueue_withdrawal('orders', 'order-1', revision => 1)")
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        let withdrawal = CheckedSurface(found[0], nil)
        guard case .changed(let stored)? = try await requests.carryOut([withdrawal], limit: 9, at: 20)[0] else {
            Issue.record("the surface is not withdrawn")
            return
        }
        #expect(stored.withdrawnAt == 20 && stored.revision == 2)
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == [])
        await store.close(isInOrder: true)
    }

    @Test func `a refused request has an outcome`() async throws {
        let store = try await open()
        let requests = try #require(store.surfaces.enqueued)
        _ = try await ask(Self.put(1))
        let found = try await requests.enqueuedSurfaces(of: nil, limit: 9)
        let outcome = Outcome(.refused, status: 400, reason: "Surface order-1: to is missing")
        for isFirst in [true, false] {
            let refused = try await requests.refuse([RefusedSurface(found[0], outcome, in: .production)], at: 20)
            #expect(refused.map(\.outcome) == (isFirst ? [outcome] : []))
        }
        let status = try await store.status(of: found[0].id, of: "orders")
        #expect(status?.state == .ended(outcome, at: 20) && status?.lane == .orders)
        #expect(try await requests.enqueuedSurfaces(of: nil, limit: 9) == [])
        await store.close(isInOrder: true)
    }

    @Test func `the functions raise errors for requests that no relay can carry out`() async throws {
        let store = try await open()
        let object = "'{}'::json"
        for (parameters, message) in [
            ("'nosuch', 'a', \(object)", "no relay serves the app nosuch"),
            ("'orders', '', \(object)", "id must be 1 to 120 visible ASCII characters"),
            ("'orders', 'é', \(object)", "id must be 1 to 120 visible ASCII characters"),
            ("'orders', 'a', '[]'", "request must be a JSON object"),
            ("'orders', 'a', NULL", "martlet.enqueue_withdrawal withdraws a surface"),
            ("'orders', 'a', json_build_object('a', repeat('x', 262144))", "the maximum is 262144"),
            ("'orders', 'a', \(object), true, 3", "revision must be positive, and not be given with is_absent"),
            ("'orders', 'a', \(object), false, 0", "revision must be positive, and not be given with is_absent"),
        ] {
            let refusal = await #expect(throws: MissingProgram.self) {
                _ = try await ask("SELECT martlet.enqueue_surface(\(parameters))")
            }
            #expect("\(refusal as Any)".contains(message), "\(parameters)")
        }
        #expect(try await store.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 9) == [])
        await store.close(isInOrder: true)
    }

    @Test func `a back end needs only the right to call the functions`() async throws {
        let store = try await open()
        let role = "r" + database
        _ = try await ask("CREATE ROLE \(role); GRANT USAGE ON SCHEMA martlet TO \(role)")
        await #expect(throws: MissingProgram.self) {
            _ = try await ask("SET SESSION AUTHORIZATION \(role); \(Self.put(1))")
        }
        _ = try await ask("GRANT EXECUTE ON FUNCTION martlet.enqueue_surface, martlet.enqueue_withdrawal TO \(role)")
        _ = try await ask("SET SESSION AUTHORIZATION \(role); \(Self.put(1))")
        let found = try await store.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 9)
        #expect(found?.map(\.caller) == ["role \(role)"])
        await #expect(throws: MissingProgram.self) {
            _ = try await ask("SET SESSION AUTHORIZATION \(role); SELECT * FROM martlet.surface_request")
        }
        await store.close(isInOrder: true)
    }

    @Test func `of two transactions about one order, the later one wins`() async throws {
        let store = try await open()
        _ = try await ask("CREATE TABLE orders (id bigint); INSERT INTO orders VALUES (1)")
        // The second transaction adds its request first, and waits for the row of the first one.
        let first = "BEGIN; UPDATE orders SET id = 1; SELECT pg_sleep(0.5); \(Self.put(1)); COMMIT"
        let second = "BEGIN; \(Self.put(2)); UPDATE orders SET id = 1; COMMIT"
        async let firstEnd = ask(first)
        try await eventually("the first transaction has the row") {
            try await ask("SELECT count(*) FROM pg_locks WHERE relation = 'orders'::regclass AND granted") != "0"
        }
        _ = try await ask(second)
        _ = try await firstEnd
        let found = try await store.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 9)
        #expect(found?.map(\.surface) == ["order-1", "order-2"])
        await store.close(isInOrder: true)
    }

    @Test func `the functions refuse a sealed database`() async throws {
        let place = try await OutboxEngine.sealedPostgreSQL.place()
        let store = try await place.open()
        _ = try await store.accept([.numbered(1)], at: 10)
        await #expect(throws: (any Error).self) { try await place.ask(Self.put(1)) }
        // A page would keep the row of a transaction that was rolled back.
        #expect(try await place.ask("SELECT pg_relation_size('martlet.surface_request')") == "0\n")
        #expect(try await store.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 9) == [])
        await store.close(isInOrder: true)
    }

    @Test(arguments: [OutboxEngine.model, .sqlite, .sealedSQLite])
    func `no back end writes to an outbox that is not a database`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let store = try await place.open()
        #expect(store.surfaces.enqueued == nil)
        await store.close(isInOrder: true)
    }
}
