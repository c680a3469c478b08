// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// A relay to kill, callers with each of its protocols, and a simulator with faults that depend on a seed.
struct CrashWorld: Sendable {
    /// The outcome of a push as the relay reports it.
    struct Outcome: Equatable, Sendable {
        var state: String?
        var unknownTries: Int64
        /// Whether the state is final.
        var isFinal: Bool { state != "accepted" && state != "in-flight" && state != nil }
    }

    let seed: UInt64
    let apple: SimulatedAPNs
    let relay: RelayProcess
    let ledger = Ledger()
    let availability = Availability()
    private let client: PushClient
    private let token: DeviceToken

    init(seed: UInt64) async throws {
        self.seed = seed
        var configuration = SimulatedAPNs.Configuration()
        configuration.isEncrypted = false
        configuration.environment = .production
        configuration.storedPushes = 1_000_000
        configuration.seed = seed
        apple = try await SimulatedAPNs.start(configuration)
        let port = await apple.port
        relay = try await RelayProcess(
            to: ["host": "127.0.0.1", "port": Int(port), "clear": true],
            ["answer-seconds": 1]
        )
        var calling = PushClient.Configuration()
        calling.retry = .none
        calling.breaksCircuit = false
        calling.sendTimeout = .seconds(5)
        client = try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: relay.port, isEncrypted: false),
            authentication: .token(
                SigningKey(pem: relay.keyPEM, keyID: RelayProcess.keyID, teamID: RelayProcess.teamID)
            ),
            configuration: calling
        )
        token = try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d")
    }

    func end() async {
        await client.close()
        await apple.stop()
    }

    // MARK: Crashes and faults

    /// Kills and restarts the relay, each time after a random number of pushes.
    func crash(times: Int) async throws {
        var random = SplitMix64(state: seed)
        for number in 1...times {
            await apple.setFaults(
                Self.faults(number == times ? 0 : .random(in: 0..<8, using: &random)),
                seed: random.next()
            )
            await ledger.grows(by: .random(in: 0...500, using: &random))
            await availability.end()
            relay.kill()
            try await relay.start()
            await availability.begin()
        }
    }

    private static func faults(_ number: Int) -> [SimulatedAPNs.Fault] {
        let slow = SimulatedAPNs.Fault(.delay(.milliseconds(5), jitter: .milliseconds(100)))
        let faults: [SimulatedAPNs.Fault] =
            switch number {
            case 0: []
            case 1: [SimulatedAPNs.Fault(.resetConnection, probability: 0.5)]
            case 2:
                [
                    SimulatedAPNs.Fault(.goAway(includesRequest: false), every: 20),
                    SimulatedAPNs.Fault(.close, probability: 0.01),
                ]
            case 3: [SimulatedAPNs.Fault(.hang, probability: 0.02)]
            case 4: [SimulatedAPNs.Fault(.limitStreams(3), count: 1), SimulatedAPNs.Fault(.goAway(), every: 50)]
            case 5: [SimulatedAPNs.Fault(.respond(.tooManyRequests, retryAfter: 1), probability: 0.1)]
            default:
                [
                    SimulatedAPNs.Fault(.resetStream(code: 7), probability: 0.05),
                    SimulatedAPNs.Fault(.resetConnection, probability: 0.01),
                ]
            }
        return faults + [slow]
    }

    // MARK: Callers

    private func payload(_ marker: String) -> String { #"{"aps":{"alert":"\#(marker)"}}"# }

    /// Sends pushes with their own identifiers until the ledger is closed, every other one with a collapse ID.
    func callAsAPNs(_ caller: Int) async {
        var random = SplitMix64(state: seed &+ UInt64(caller) &* 1_000)
        var count = 0
        while await !ledger.isClosed {
            count += 1
            let id = APNsID(randomBits: (random.next(), random.next()))
            let marker = "apns-\(caller)-\(count)"
            let push = PushNotification.opaque(
                Array(payload(marker).utf8),
                pushType: .alert,
                collapseID: count % 2 == 0 ? try? CollapseID("line-\(caller)") : nil,
                id: id
            )
            repeat {
                do {
                    try await client.send(push, to: token, topic: Topic(RelayProcess.bundleID))
                    await ledger.add(marker, id.description)
                    break
                } catch {
                    if let status = error.status, status != 503 { Issue.record("\(marker): \(error)") }
                    await availability.wait()
                }
            } while await !ledger.isClosed
        }
    }

    /// Sends pushes one by one, each with an idempotency key.
    func callInJSON(_ caller: Int) async {
        var count = 0
        while await !ledger.isClosed {
            count += 1
            let marker = "json-\(caller)-\(count)"
            let request = RawHTTP1.Request(
                "POST",
                "/v1/pushes",
                ["idempotency-key: \(marker)"],
                body: #"{"to":"\#(token.hex)","payload":\#(payload(marker))}"#
            )
            repeat {
                let answer = await relay.ask([request]).first
                if let answer, let id = Self.id(in: answer.body) {
                    await ledger.add(marker, id)
                    break
                }
                if let answer, answer.status != 503 { Issue.record("\(marker): \(answer)") }
                await availability.wait()
            } while await !ledger.isClosed
        }
    }

    /// Sends batches; repeats a batch with the same idempotency key after an incomplete response.
    func callInBatches(_ caller: Int) async {
        var count = 0
        while await !ledger.isClosed {
            count += 1
            let markers = (0..<30).map { "batch-\(caller)-\(count)-\($0)" }
            let lines = markers.map { #"{"to":"\#(token.hex)","payload":\#(payload($0))}"# }
            let request = RawHTTP1.Request(
                "POST",
                "/v1/pushes:batch",
                ["idempotency-key: batch-\(caller)-\(count)"],
                body: lines.joined(separator: "\n")
            )
            repeat {
                let answers = (await relay.ask([request]).first?.body ?? "").split(separator: "\n")
                let ids = answers.compactMap { Self.id(in: String($0)) }
                if ids.count == answers.count {
                    for (marker, id) in zip(markers, ids) { await ledger.add(marker, id) }
                }
                if ids.count == markers.count { break }
                await availability.wait()
            } while await !ledger.isClosed
        }
    }

    private static func id(in json: String) -> String? {
        (try? JSONReader.read(Array(json.utf8)))?["id"]?.stringValue
    }

    // MARK: Checks

    /// Waits for the outcomes of pushes.
    func outcomes(of pushes: [String: String]) async -> [String: Outcome] {
        let ids = pushes.values.sorted()
        return await withTaskGroup { group in
            for start in stride(from: 0, to: ids.count, by: 100) {
                group.addTask { await self.outcomes(of: ids[start...].prefix(100)) }
            }
            return await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
    }

    private func outcomes(of ids: ArraySlice<String>) async -> [String: Outcome] {
        var outcomes: [String: Outcome] = [:]
        // The relay waits longer after each attempt without an answer, so repeat the request.
        for _ in 0..<5 {
            let pending = ids.filter { outcomes[$0]?.isFinal != true }
            if pending.isEmpty { break }
            let answers = await relay.ask(pending.map { RawHTTP1.Request("GET", "/v1/pushes/\($0)?wait=15") })
            for (id, answer) in zip(pending, answers) {
                let json = try? JSONReader.read(Array(answer.body.utf8))
                let tries = json?["unknown-tries"]?.integerValue ?? 0
                outcomes[id] = Outcome(state: json?["state"]?.stringValue, unknownTries: tries)
            }
        }
        return outcomes
    }

    /// Returns descriptions of the violated guarantees.
    func violations(_ acknowledged: [String: String], _ outcomes: [String: Outcome]) async -> [String] {
        var violations: [String] = []
        var arrivals: [String: [String]] = [:]
        var lines: [String: [Int]] = [:]
        for push in await apple.pushes where push.status == 200 {
            let alert = (try? JSONReader.read(push.payload))?["aps"]?["alert"]?.stringValue ?? ""
            arrivals[alert, default: []].append(push.id)
            if let line = push.headers.collapseID {
                lines[line, default: []].append(alert.split(separator: "-").last.flatMap { Int($0) } ?? 0)
            }
        }
        for (marker, id) in acknowledged {
            guard let outcome = outcomes[id] else {
                violations.append("\(marker) has no outcome")
                continue
            }
            let ids = arrivals[marker] ?? []
            if outcome.state != "delivered" { violations.append("\(marker) is \(outcome.state ?? "unknown")") }
            if ids.isEmpty { violations.append("\(marker) has not arrived") }
            if Set(ids) != [id] { violations.append("\(marker) arrived as \(Set(ids)), not as \(id)") }
            if ids.count > 1, outcome.unknownTries == 0 {
                violations.append("\(marker) arrived \(ids.count) times, but unknown-tries is 0")
            }
        }
        for (line, numbers) in lines where numbers != numbers.sorted() {
            violations.append("\(line) arrived in the order \(numbers)")
        }
        return violations
    }
}

/// Lets callers wait while the relay is killed.
actor Availability {
    private var gate = Gate()

    func begin() { gate.open() }
    func end() { gate = Gate() }
    func wait() async { await gate.wait() }
}

/// The acknowledged pushes: their identifiers by the marker in their payload.
actor Ledger {
    private(set) var acknowledged: [String: String] = [:]
    private(set) var isClosed = false
    private var goal: (count: Int, reached: CheckedContinuation<Void, Never>)?

    func add(_ marker: String, _ id: String) {
        if let earlier = acknowledged.updateValue(id, forKey: marker), earlier != id {
            Issue.record("\(marker) was acknowledged as \(earlier) and as \(id)")
        }
        guard let (count, reached) = goal, acknowledged.count >= count else { return }
        goal = nil
        reached.resume()
    }

    /// Waits until `count` more pushes are acknowledged.
    func grows(by count: Int) async {
        guard count > 0 else { return }
        await withCheckedContinuation { goal = (acknowledged.count + count, $0) }
    }

    func close() { isClosed = true }
}
