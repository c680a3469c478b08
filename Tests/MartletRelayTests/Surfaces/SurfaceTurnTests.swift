// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// A round of the work for surfaces while another app has much of it, earlier and later than a change.
@Suite(.timeLimit(.minutes(10))) struct SurfaceTurnTests {
    private let bench: SurfaceBench
    /// The runner, whose rounds the test starts.
    private let runner: SurfaceRunner
    private let surfaces: any SurfaceStore
    private let now: Int64

    init() async throws {
        bench = try await SurfaceBench(over: .model)
        let parts = bench.relay.parts
        await parts.surfaces.drain()
        runner = SurfaceRunner(await bench.relay.relay.context, dispatcher: parts.dispatcher)
        surfaces = parts.outbox.surfaces
        now = parts.now
        _ = try await bench.enroll(device: "a1", start: "b1")
    }

    private func put(_ id: String, of app: String, for user: String, at time: Int64) async throws -> StoredSurface {
        let request = SurfaceBench.request("Packed")
        let surface = MartletOutbox.Surface(
            app: app,
            id: id,
            caller: "back end",
            audience: .users([user]),
            request: request,
            fingerprint: try SHA256.hash(request)
        )
        _ = try await surfaces.put(surface, if: .none, limit: 1_000, at: time)
        return try #require(try await surfaces.surface(id, of: app))
    }

    @Test func `pages of another app do not delay a change`() async throws {
        for number in 0..<100 {
            _ = try await put("ride-\(number)", of: "rides", for: "bert", at: now - (number < 50 ? 3_000 : 1_000))
        }
        _ = try await put(SurfaceBench.surface, of: "orders", for: "anna", at: now - 2_000)
        _ = await runner.run()
        try await bench.expect(["start Packed"], by: "b1")
        #expect(try await surfaces.unfinishedSurfaces(limit: 1_000).count == 51)
        await bench.stop()
    }

    @Test func `sessions of another app do not delay a session`() async throws {
        let installations = bench.relay.parts.outbox.installations
        let body = #"{"user":"bert"}"#
        let ticket = await bench.relay.ask("POST", "/v1/apps/rides/tickets", body, key: "mrt_rides").json["ticket"]
        let phone = #"{"environment":"production"}"#
        let answer = await bench.phones.phone("POST", phone, with: ticket?.stringValue)
        try #require(answer.status == 201, "\(answer.text)")
        let other = try #require(try await installations.installations(of: "rides", .all, after: 0, limit: 1).first)
        let own = try #require(try await installations.installations(of: "orders", .all, after: 0, limit: 1).first)
        for number in 0..<400 {
            let stored = try await put("ride-\(number)", of: "rides", for: "bert", at: now - 4_000)
            let page = SurfacePage(of: stored, next: nil, installations: [other.number])
            #expect(try await surfaces.store([page], at: now - (number < 200 ? 3_000 : 1_000)) == [true])
        }
        let stored = try await put(SurfaceBench.surface, of: "orders", for: "anna", at: now - 4_000)
        let page = SurfacePage(of: stored, next: nil, installations: [own.number])
        #expect(try await surfaces.store([page], at: now - 2_000) == [true])
        _ = await runner.run()
        try await bench.expect(["start Packed"], by: "b1")
        let due = try await surfaces.dueSessions(at: now, limit: 1_000)
        #expect(due.count { $0.surface.surface.app == "rides" } == 151)
        await bench.stop()
    }
}
