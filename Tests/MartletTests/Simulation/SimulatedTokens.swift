// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport

@testable import Martlet

/// Sources of the tokens of one key, alone or sharing a table, a clock that is sometimes set, and an APNs that
/// sometimes rejects a token as expired.
struct SimulatedTokens {
    /// A rule that was broken.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private struct Source {
        var machine: ProviderTokenMachine
        /// The time of issue of the token in use.
        var issuedAt: Int64?
        /// The time from which on the machine has to be asked again.
        var end = Int64.min
        /// The times at which tokens were issued because of a rejection.
        var replacements: [Int64] = []
        var isRejected = false
    }

    private static let hour: Int64 = 3_600
    private static let interval = ProviderToken.minimumRefreshIntervalInSeconds

    private let scope: ProviderTokenMachine.Scope
    private var random: SplitMix64
    private var sources: [Source]
    private var now: Int64
    /// The time of issue of the token that the sources share.
    private var sharedIssuedAt: Int64?
    private let isClockSet: Bool
    private let rejection: Double

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        scope = Bool.random(using: &random) ? .local : .shared
        let count = scope == .local ? 1 : Int.random(in: 1...4, using: &random)
        sources = Array(repeating: Source(machine: ProviderTokenMachine(scope)), count: count)
        now = Int64.random(in: 0...2_000_000_000, using: &random)
        isClockSet = Int.random(in: 0..<4, using: &random) == 0
        rejection = Bool.random(using: &random) ? 0 : Double.random(in: 0..<0.5, using: &random)
    }

    mutating func run() throws(Violation) {
        for _ in 0..<200 {
            now += Int64.random(in: 0...(Bool.random(using: &random) ? 30 : SimulatedTokens.hour), using: &random)
            if isClockSet, Int.random(in: 0..<20, using: &random) == 0 {
                now += Int64.random(in: -2 * SimulatedTokens.hour...2 * SimulatedTokens.hour, using: &random)
                for index in sources.indices { sources[index].end = .min }
            }
            try send(from: Int.random(in: sources.indices, using: &random))
        }
    }

    /// Sends a push with the token of a source.
    private mutating func send(from index: Int) throws(Violation) {
        if now >= sources[index].end { try obtainToken(for: index) }
        guard let issuedAt = sources[index].issuedAt else { throw Violation(description: "there is no token") }
        let age = now - issuedAt
        guard age >= -60, age < SimulatedTokens.hour else {
            throw Violation(description: "a token was used at an age of \(age) s")
        }
        guard Double.random(in: 0..<1, using: &random) < rejection else { return }
        sources[index].machine.rejected(tokenIssuedAt: issuedAt, at: now)
        sources[index].isRejected = true
        sources[index].end = .min
    }

    private mutating func obtainToken(for index: Int) throws(Violation) {
        var source = sources[index]
        let found = scope == .shared ? sharedIssuedAt : source.issuedAt
        let action =
            found.map { source.machine.action(forTokenIssuedAt: $0, at: now) } ?? source.machine.action(at: now)
        switch action {
        case .use:
            if found != source.issuedAt { source.isRejected = false }
            source.issuedAt = found
        case .issue(let issuedAt):
            guard issuedAt == now else { throw Violation(description: "a token's time of issue is not now") }
            try check(found, isRejected: source.isRejected, &source.replacements)
            source.issuedAt = issuedAt
            source.isRejected = false
            sharedIssuedAt = issuedAt
        }
        guard let issuedAt = source.issuedAt else { throw Violation(description: "an unknown token is to be used") }
        source.machine.began(using: issuedAt, at: now)
        let seconds = source.machine.secondsUntilRenewal(at: now)
        guard seconds > 0 else { throw Violation(description: "a new token may not be used") }
        guard source.machine.action(at: now + seconds - 1) == .use else {
            throw Violation(description: "a token has to be replaced before its time")
        }
        source.end = now + seconds
        sources[index] = source
    }

    /// Checks that a token may be replaced.
    private func check(_ former: Int64?, isRejected: Bool, _ replacements: inout [Int64]) throws(Violation) {
        guard let former else { return }
        let age = now - former
        if age >= 50 * 60 || age < -60 { return }
        guard isRejected else { throw Violation(description: "a good token was replaced at an age of \(age) s") }
        let last = scope == .local ? replacements.last : former
        replacements.append(now)
        // A clock that was set makes the time between two tokens unknown.
        if let last, !isClockSet, now - last < SimulatedTokens.interval {
            throw Violation(description: "a rejected token was replaced after \(now - last) s")
        }
    }
}
