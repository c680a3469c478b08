import Foundation
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// The real program, killed again and again while pushes come in and Apple has a bad day.
@Suite(.timeLimit(.minutes(4))) struct CrashTests {
    /// How often the relay is killed.
    private static let kills = 30

    @Test func `what is acknowledged has one end, whatever becomes of the process`() async throws {
        let seed = ProcessInfo.processInfo.environment["MARTLET_SEED"].flatMap { UInt64($0) }
        let world = try await CrashWorld(seed: seed ?? .random(in: .min ... .max))
        print("The crashes have the seed \(world.seed).")
        try await world.relay.start()
        await world.life.begin()
        await withDiscardingTaskGroup { group in
            for number in 0..<24 { group.addTask { await world.callAsAPNs(number) } }
            for number in 0..<4 { group.addTask { await world.callInJSON(number) } }
            for number in 0..<2 { group.addTask { await world.callInBatches(number) } }
            group.addTask {
                do {
                    try await world.crash(times: Self.kills)
                } catch {
                    Issue.record("\(error), with the seed \(world.seed)")
                }
                await world.ledger.close()
            }
        }
        await world.apple.setFaults([], seed: world.seed)
        let acknowledged = await world.ledger.acknowledged
        let outcomes = await world.outcomes(of: acknowledged)
        // An end is one that stays.
        #expect(await world.relay.stop() == 0)
        try await world.relay.start()
        #expect(await world.outcomes(of: acknowledged) == outcomes)
        #expect(acknowledged.count > 50 * Self.kills)
        let violations = await world.violations(acknowledged, outcomes)
        #expect(violations.isEmpty, "\(violations.count) with the seed \(world.seed): \(violations.prefix(20))")
        let doubted = outcomes.values.count { $0.unknownTries > 0 }
        print("\(acknowledged.count) pushes were acknowledged, of which \(doubted) may have been sent more than once.")
        #expect(await world.relay.stop() == 0)
        await world.end()
    }
}
