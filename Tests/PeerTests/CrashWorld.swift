import Foundation
import Martlet
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// A relay that is killed, callers in each of its dialects, and Apple's part, which goes wrong as a seed decides.
struct CrashWorld: Sendable {
    /// How a push has ended, as the relay tells it.
    struct End: Equatable, Sendable {
        var state: String?
        var unknownTries: Int64
        /// Whether it is one.
        var hasCome: Bool { state != "accepted" && state != "in-flight" && state != nil }
    }

    let seed: UInt64
    let apple: SimulatedAPNs
    let relay: RelayProcess
    let ledger = Ledger()
    let life = Life()
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

    // MARK: The process, and Apple

    /// Kills the relay after some more pushes each time, and starts it again.
    func crash(times: Int) async throws {
        var random = SplitMix64(state: seed)
        for number in 1...times {
            await apple.setFaults(
                Self.faults(number == times ? 0 : .random(in: 0..<8, using: &random)),
                seed: random.next()
            )
            await ledger.grows(by: .random(in: 0...500, using: &random))
            await life.end()
            relay.kill()
            try await relay.start()
            await life.begin()
        }
    }

    private static func faults(_ number: Int) -> [Fault] {
        let slow = Fault(.delay(.milliseconds(5), jitter: .milliseconds(100)))
        let troubles: [Fault] =
            switch number {
            case 0: []
            case 1: [Fault(.resetConnection, probability: 0.5)]
            case 2: [Fault(.goAway(includesRequest: false), every: 20), Fault(.close, probability: 0.01)]
            case 3: [Fault(.hang, probability: 0.02)]
            case 4: [Fault(.limitStreams(3), count: 1), Fault(.goAway(), every: 50)]
            case 5: [Fault(.respond(.tooManyRequests, retryAfter: 1), probability: 0.1)]
            default: [Fault(.resetStream(code: 7), probability: 0.05), Fault(.resetConnection, probability: 0.01)]
            }
        return troubles + [slow]
    }

    // MARK: The callers

    private func payload(_ marker: String) -> String { #"{"aps":{"alert":"\#(marker)"}}"# }

    /// Sends pushes with identifiers of their own until the ledger is closed, every other one in a line.
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
                    await ledger.note(marker, id.description)
                    break
                } catch {
                    if let status = error.status, status != 503 { Issue.record("\(marker) got \(error)") }
                    await life.isOn()
                }
            } while await !ledger.isClosed
        }
    }

    /// Hands in pushes one by one, with a key for each.
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
                    await ledger.note(marker, id)
                    break
                }
                if let answer, answer.status != 503 { Issue.record("\(marker) got \(answer)") }
                await life.isOn()
            } while await !ledger.isClosed
        }
    }

    /// Hands in batches, which may be answered in part: then the whole of it is handed in again.
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
                    for (marker, id) in zip(markers, ids) { await ledger.note(marker, id) }
                }
                if ids.count == markers.count { break }
                await life.isOn()
            } while await !ledger.isClosed
        }
    }

    private static func id(in json: String) -> String? {
        (try? JSONReader.read(Array(json.utf8)))?["id"]?.stringValue
    }

    // MARK: What has to be true

    /// How pushes have ended, once they have.
    func outcomes(of pushes: [String: String]) async -> [String: End] {
        let ids = pushes.values.sorted()
        return await withTaskGroup { group in
            for start in stride(from: 0, to: ids.count, by: 100) {
                group.addTask { await self.outcomes(of: ids[start...].prefix(100)) }
            }
            return await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
    }

    private func outcomes(of ids: ArraySlice<String>) async -> [String: End] {
        var outcomes: [String: End] = [:]
        // What was sent several times without an answer waits longer each time.
        for _ in 0..<5 {
            let open = ids.filter { outcomes[$0]?.hasCome != true }
            if open.isEmpty { break }
            let answers = await relay.ask(open.map { RawHTTP1.Request("GET", "/v1/pushes/\($0)?wait=15") })
            for (id, answer) in zip(open, answers) {
                let json = try? JSONReader.read(Array(answer.body.utf8))
                let tries = json?["unknown-tries"]?.integerValue ?? 0
                outcomes[id] = End(state: json?["state"]?.stringValue, unknownTries: tries)
            }
        }
        return outcomes
    }

    /// What is wrong, in words.
    func violations(_ acknowledged: [String: String], _ outcomes: [String: End]) async -> [String] {
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
            guard let end = outcomes[id] else {
                violations.append("nothing is known of \(marker)")
                continue
            }
            let ids = arrivals[marker] ?? []
            if end.state != "delivered" { violations.append("\(marker) is \(end.state ?? "unknown")") }
            if ids.isEmpty { violations.append("\(marker) has not arrived") }
            if Set(ids) != [id] { violations.append("\(marker) arrived as \(Set(ids)), not as \(id)") }
            if ids.count > 1, end.unknownTries == 0 {
                violations.append("\(marker) arrived \(ids.count) times, and nobody says so")
            }
        }
        for (line, numbers) in lines where numbers != numbers.sorted() {
            violations.append("\(line) came as \(numbers)")
        }
        return violations
    }
}

/// Whether the relay is there.
actor Life {
    private var gate = Gate()

    func begin() { gate.open() }
    func end() { gate = Gate() }
    func isOn() async { await gate.wait() }
}

/// What callers were told to be kept: the identifier by what the push says.
actor Ledger {
    private(set) var acknowledged: [String: String] = [:]
    private(set) var isClosed = false
    private var goal: (count: Int, reached: CheckedContinuation<Void, Never>)?

    func note(_ marker: String, _ id: String) {
        if let earlier = acknowledged.updateValue(id, forKey: marker), earlier != id {
            Issue.record("\(marker) was \(earlier) and is \(id)")
        }
        guard let (count, reached) = goal, acknowledged.count >= count else { return }
        goal = nil
        reached.resume()
    }

    /// Waits until so many more have been acknowledged.
    func grows(by count: Int) async {
        guard count > 0 else { return }
        await withCheckedContinuation { goal = (acknowledged.count + count, $0) }
    }

    func close() { isClosed = true }
}
