// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The current state of a client, for monitoring.
package struct ClientCondition: Sendable, Hashable {
    /// The number of streams that APNs allows on all open connections together.
    package var streamLimit = 0
    /// The time of issue of the current provider token; nil before the first, and without tokens.
    package var tokenIssuedAt: Date?
    /// The number of provider tokens used so far.
    package var tokensUsed = 0

    static func + (left: ClientCondition, right: ClientCondition) -> ClientCondition {
        var sum = left
        sum.streamLimit += right.streamLimit
        sum.tokenIssuedAt = [left.tokenIssuedAt, right.tokenIssuedAt].compactMap(\.self).max()
        // All loops use the tokens of the same source.
        sum.tokensUsed = max(left.tokensUsed, right.tokensUsed)
        return sum
    }
}

extension PushClient {
    /// The current state of the client, without its connections for channel management.
    package var condition: ClientCondition {
        get async {
            var sum = ClientCondition()
            for pool in pools { sum = sum + (await pool.condition) }
            return sum
        }
    }
}

extension PoolMachine {
    var condition: ClientCondition {
        var condition = ClientCondition()
        condition.streamLimit = connections.streamLimit
        condition.tokenIssuedAt = tokens.issuedAt
        condition.tokensUsed = tokens.count
        return condition
    }
}
