// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of a relay under three times its capacity.
@Suite(.timeLimit(.minutes(10))) struct LoadTests {
    private static let limit = 200
    private static let callers = 3
    private static let pushesOfEach = 1_500

    /// The answers to callers, and the state of the relay in the meantime.
    private actor Account {
        private(set) var kept: Set<APNsID> = []
        private(set) var refused = 0
        private(set) var problems: [String] = []
        private(set) var isOver = false

        func keep(_ id: APNsID) { kept.insert(id) }
        func end() { isOver = true }

        func refuse(_ error: APNsError) {
            refused += 1
            if error.status != 503 || error.retryAfter == nil { problems.append("\(error)") }
        }
    }

    @Test func `under overload, each push is stored or refused`() async throws {
        let bench = try await RelayBench {
            $0.http = RelayConfiguration.Address(port: 0)
            $0.loadLimits.incoming = Self.limit
            $0.answerTime = .zero
            // Apple cannot be reached.
            let port = (try? SilentServer.unusedPort().port) ?? 0
            $0.endpoints = [.production: LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: port, isEncrypted: false))]
        }
        let httpPort = try #require(await bench.relay.httpPort)
        let account = Account()
        async let signs = Self.signs(at: httpPort, until: account)
        await withTaskGroup { group in
            for _ in 0..<Self.callers {
                guard let client = try? await bench.client() else { continue }
                for _ in 0..<Self.limit {
                    group.addTask {
                        for _ in 0..<Self.pushesOfEach / Self.limit { await Self.send(over: client, account) }
                    }
                }
            }
        }
        await account.end()
        let kept = await account.kept
        let refused = await account.refused
        let problems = await account.problems
        #expect(problems.isEmpty, "\(problems.prefix(3))")
        #expect(refused > 0 && kept.count == Self.callers * (Self.pushesOfEach / Self.limit) * Self.limit)
        // While a disk stalls, pushes are refused, too, and not counted as shed.
        let shed = await bench.parts.intake.snapshot.counts.shed
        #expect(shed > 0 && shed <= refused)
        let (alive, longest) = await signs
        // A guard: all threads of a busy machine wait, and a relay that waits for its pushes never answers.
        #expect(alive > 0 && longest < .seconds(60), "\(alive) signs of life, the last after \(longest)")
        await bench.stop()
        let outbox = try await SQLiteOutbox(file: bench.directory.path + "/relay.sqlite")
        #expect(try await outbox.backlog().map(\.count) == [kept.count])
        for id in kept { #expect(try await outbox.status(of: id, of: "orders") != nil) }
        await outbox.close(isInOrder: true)
    }

    /// Sends a push until it is taken.
    private static func send(over client: PushClient, _ account: Account) async {
        while true {
            do throws(APNsError) {
                let receipt = try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
                return await account.keep(receipt.id)
            } catch {
                await account.refuse(error)
            }
        }
    }

    /// Polls the liveness of the relay; returns the number of good answers and the longest duration.
    private static func signs(at port: UInt16, until account: Account) async -> (Int, Duration) {
        var (count, longest) = (0, Duration.zero)
        repeat {
            let start = ContinuousClock.now
            let answer = await RawHTTP1.ask([RawHTTP1.Request("GET", "/livez")], at: port).first
            if answer?.status == 200 { count += 1 } else { longest = .seconds(3_600) }
            longest = max(longest, ContinuousClock.now - start)
        } while await !account.isOver
        return (count, longest)
    }
}
