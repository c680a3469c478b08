#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// How a client is at the moment, for whoever watches over it.
package struct ClientCondition: Sendable, Hashable {
    /// Streams that APNs allows on the open connections together.
    package var streamLimit = 0
    /// Whether nothing is sent, since everything was refused for one reason.
    package var isCircuitOpen = false
    /// The time of issue of the provider token in use; nil before the first, and without tokens.
    package var tokenIssuedAt: Date?
    /// Provider tokens that were used, one after the other.
    package var tokensUsed = 0

    static func + (left: ClientCondition, right: ClientCondition) -> ClientCondition {
        var sum = left
        sum.streamLimit += right.streamLimit
        sum.isCircuitOpen = left.isCircuitOpen || right.isCircuitOpen
        sum.tokenIssuedAt = [left.tokenIssuedAt, right.tokenIssuedAt].compactMap(\.self).max()
        // All loops use the tokens of one mint.
        sum.tokensUsed = max(left.tokensUsed, right.tokensUsed)
        return sum
    }
}

extension PushClient {
    /// How the client is; its channels' connections are no part of it.
    package var condition: ClientCondition {
        get async {
            var sum = ClientCondition()
            for pool in pools { sum = sum + (await pool.condition) }
            return sum
        }
    }
}

extension PoolMachine {
    /// How the connections are.
    var condition: ClientCondition {
        var condition = ClientCondition()
        for connection in connections where connection.isUsable { condition.streamLimit += connection.peerLimit }
        condition.isCircuitOpen = circuit.isOpen
        return condition
    }
}
