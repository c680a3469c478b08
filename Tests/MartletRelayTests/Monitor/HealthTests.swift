// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Martlet
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the relay's health checks and status.
@Suite(.timeLimit(.minutes(10))) struct HealthTests {
    @Test func `a relay is ready if it can store pushes`() async throws {
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall)
        #expect(await bench.ask("GET", "/livez", key: nil).text == "ok\n")
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 200)
        await bench.relay.context.recordOutbox(OutboxError(.full, "no room"))
        let full = await bench.ask("GET", "/readyz", key: nil)
        #expect(full.status == 503 && full.text == "pushes cannot be stored: no room\n")
        let verbose = await bench.ask("GET", "/readyz?verbose", key: nil)
        #expect(verbose.status == 503 && verbose.text.contains("outbox: no room\n"), "\(verbose.text)")
        #expect(verbose.text.contains("accepting pushes: no, pushes cannot be stored: no room\n"), "\(verbose.text)")
        await bench.parts.monitor.postHealth()
        let lanes = await bench.ask("GET", "/readyz?verbose")
        #expect(lanes.text.contains("orders production: not storing\n"), "\(lanes.text)")
        let storage = await bench.ask("GET", "/v1/status").json["storage"]
        #expect(storage?["problem"] == "no room" && storage?["since"]?.integerValue != nil)
        // A small write shows room only five seconds after the error.
        await bench.parts.maintenance.checkOutbox()
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 503)
        clock.advance(by: 5)
        await bench.parts.maintenance.checkOutbox()
        #expect(await bench.ask("GET", "/readyz", key: nil).text == "ok\n")
        await bench.stop()
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 503)
    }

    @Test func `a relay detects that its outbox is closed`() async throws {
        // The clock stands still, so that the outbox was written to just now however slow the machine is.
        let bench = try await RelayBench(clock: TestClock().wall)
        // A first claim that is still under way would notice that the outbox is closed.
        try await eventually("the first claim of each lane has ended", in: bench.parts.dispatcher) { dispatcher in
            !dispatcher.machine.lanes.values.contains { $0.queues.contains { $0.isReady || $0.isClaiming } }
        }
        await bench.parts.outbox.close(isInOrder: true)
        await bench.parts.maintenance.checkOutbox()
        #expect(await bench.ask("GET", "/readyz", key: nil).text == "ok\n")
        await bench.relay.context.recordOutbox(OutboxError(.unavailable, "gone"))
        await bench.parts.maintenance.checkOutbox()
        #expect(await bench.ask("GET", "/readyz", key: nil).text.contains("closed"))
        await bench.stop()
    }

    @Test func `a relay is ready although Apple cannot be reached`() async throws {
        let reserved = try SilentServer.unusedPort()
        let nowhere = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false))
        let bench = try await RelayBench { $0.endpoints = [.production: nowhere] }
        _ = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#)
        let lane = Lane(app: "orders", environment: .production)
        try await eventually("the lane pauses") {
            await bench.parts.dispatcher.machine.lanes[lane]?.pausedUntil != nil
        }
        await bench.parts.monitor.postHealth()
        let ready = await bench.ask("GET", "/readyz?verbose")
        #expect(ready.status == 200 && ready.text.contains("orders production: down since 20"), "\(ready.text)")
        #expect(!ready.text.contains("rides"), "the key is not for this app")
        for key in [nil, "wrong"] {
            let anonymous = await bench.ask("GET", "/readyz?verbose", key: key)
            #expect(anonymous.status == 200 && anonymous.text.contains("outbox: ok"), "\(anonymous.text)")
            #expect(!anonymous.text.contains("orders"), "\(anonymous.text)")
        }
        let status = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first
        #expect(status?["backlog"] == 1 && status?["state"] == "down" && status?["reason"] == "ConnectionFailed")
        await bench.stop()
    }

    @Test func `health is answered to GET and HEAD only`() async throws {
        let bench = try await RelayBench()
        for path in ["/livez", "/readyz"] {
            for method in ["GET", "HEAD"] { #expect(await bench.ask(method, path, key: nil).status == 200) }
            for method in ["TRACE", "POST"] { #expect(await bench.ask(method, path).status == 405) }
        }
        await bench.stop()
    }

    @Test func `a relay with a blocked loop is not alive`() async throws {
        let bench = try await RelayBench()
        let health = bench.parts.monitor.health
        #expect(health.isAlive())
        let gate = DispatchSemaphore(value: 0)
        bench.parts.monitor.loop.execute { gate.wait() }
        try await eventually("the relay is not alive") { !health.isAlive(within: .milliseconds(600)) }
        gate.signal()
        try await eventually("the relay is alive again") { health.isAlive(within: .milliseconds(600)) }
        await bench.stop()
    }

    @Test func `only a key for all apps can drain the relay`() async throws {
        let bench = try await RelayBench {
            guard let all = try? RelayConfiguration.Caller(key: "all", apps: ["orders", "rides"], scopes: [.manage]),
                let reader = try? RelayConfiguration.Caller(key: "reader", apps: ["orders", "rides"], scopes: [.read])
            else { return }
            $0.callers += [all, reader]
        }
        #expect(await bench.ask("POST", "/v1/drain").status == 403)
        #expect(await bench.ask("POST", "/v1/drain", key: "reader").status == 403)
        async let asked: Void = bench.relay.waitForShutdownRequest()
        #expect(await bench.ask("POST", "/v1/drain", key: "all").status == 202)
        await asked
        await bench.stop()
    }
}
