// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Measurements of the outbox that several relays share, for `Benchmarks/fleet.py`.
enum SharedOutboxes {
    private static let lane = Lane(app: "bench", environment: .production)
    /// The time at which all pushes are accepted, in milliseconds since 1970.
    private static let now: Int64 = 1_795_000_000_000

    static let store = Command(
        "store",
        "Store pushes in an outbox in PostgreSQL, and print their number in a second",
        examples: ["store --database postgresql://postgres@127.0.0.1/bench --pushes 100000 --batch 500"],
        Option<String>("--database", "The database"),
        Option<Int>("--pushes", "Number of pushes"),
        Option<Int>("--batch", "Number of pushes in a commit")
    ) { database, count, batch in
        try await OutboxSchema.create(in: database)
        let outbox = try await PostgreSQLOutbox(address: database)
        var random = SplitMix64(state: .random(in: .min ... .max))
        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 600)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: count, by: batch) {
            let pushes = try (first..<min(count, first + batch)).map { _ in
                OutboxPush(
                    lane: lane,
                    id: APNsID(randomBits: (random.next(), random.next())),
                    destination: .device(try DeviceToken(hex: token(&random))),
                    headers: PushHeaders(pushType: "alert", priority: "10", topic: "com.example.app"),
                    payload: payload
                )
            }
            _ = try await outbox.accept(pushes, at: now)
        }
        print(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
        await outbox.close(isInOrder: true)
    }

    static let claim = Command(
        "claim",
        "Claim pushes from an outbox in PostgreSQL, end them, and print what a claim took in microseconds",
        examples: ["claim --database postgresql://postgres@127.0.0.1/bench --times 200 --limit 100 --refill"],
        Option<String>("--database", "The database"),
        Option<Int>("--times", "Number of repetitions"),
        Option<Int>("--limit", "Number of pushes in each claim"),
        Flag("--refill", "Put as many in again, so that there are as many as before")
    ) { database, times, limit, refills in
        guard times > 0 else { throw UsageError("--times must be at least 1 (found \(times))") }
        let outbox = try await PostgreSQLOutbox(address: database)
        var random = SplitMix64(state: .random(in: .min ... .max))
        var took: [Double] = []
        // Pushes that an earlier run has inserted again are due by now.
        let start = Int64(Date().timeIntervalSince1970 * 1_000)
        for time in 0..<times {
            let begin = ContinuousClock.now
            // The clock advances by ten milliseconds per claim, which is 5 000 pushes a second at 50 pushes per claim.
            let now = start + Int64(time) * 10
            let claimed = try await outbox.claim(lane, .immediate, limit: limit, at: now).pushes
            took.append((ContinuousClock.now - begin) / .microseconds(1))
            guard claimed.count == limit else { throw UsageError("only \(claimed.count) were there") }
            let ends = claimed.map { Settlement($0, .ended(Outcome(.delivered, status: 200))) }
            try await outbox.settle(ends, at: now)
            guard refills else { continue }
            let more = claimed.map { claimed in
                var push = claimed.push
                push.id = APNsID(randomBits: (random.next(), random.next()))
                return push
            }
            _ = try await outbox.accept(more, at: now)
        }
        // The median of the second half: caches are warm, and the rows left behind by earlier claims are still there.
        let half = took.suffix((times + 1) / 2).sorted()
        print(half[half.count / 2])
        await outbox.close(isInOrder: true)
    }

    private static func token(_ random: inout SplitMix64) -> String {
        (0..<4).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
