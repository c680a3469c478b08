// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

extension Lane {
    static let orders = Lane(app: "orders", environment: .production)
    static let orderTests = Lane(app: "orders", environment: .development)
    static let rides = Lane(app: "rides", environment: .production)
}

extension OutboxPush {
    /// A push by its number, with default values for other members.
    static func numbered(
        _ number: UInt64,
        _ lane: Lane = .orders,
        priority: String? = nil,
        token: String = "00112233445566778899aabbccddeeff",
        payload: String = #"{"aps":{"alert":"Order ready"}}"#,
        hasCallersID: Bool = false,
        notBefore: Int64? = nil,
        expiresAt: Int64? = nil,
        orderKey: String? = nil,
        user: String? = nil,
        installation: Int64? = nil
    ) throws -> OutboxPush {
        var push = OutboxPush(
            lane: lane,
            id: APNsID(randomBits: (number, number)),
            hasCallersID: hasCallersID,
            destination: .device(try DeviceToken(hex: token)),
            headers: PushHeaders(pushType: "alert", priority: priority, topic: "com.example.orders"),
            payload: Array(payload.utf8),
            notBefore: notBefore,
            expiresAt: expiresAt,
            orderKey: orderKey,
            user: user
        )
        push.installation = installation
        return push
    }

    /// The push as one that replaces earlier ones.
    var superseding: OutboxPush {
        var push = self
        push.supersedes = true
        return push
    }

    /// Pushes of all urgencies, in two lanes, some of them scheduled, some with order keys.
    static func varied(_ count: UInt64) throws -> [OutboxPush] {
        try (1...count).map { number in
            try numbered(
                number,
                number.isMultiple(of: 4) ? .orderTests : .orders,
                priority: ["10", "5", "1"][Int(number % 3)],
                payload: #"{"aps":{"alert":"\#(String(repeating: "Order \(number) ", count: 9))"}}"#,
                notBefore: number.isMultiple(of: 5) ? 1 << 40 : nil,
                orderKey: number % 10 < 3 ? "collapse \(number % 3)" : nil
            )
        }
    }
}

extension OutboxStore {
    /// Everything that is due in a lane.
    func claimAll(_ lane: Lane = .orders, _ urgency: Urgency = .immediate, at now: Int64) async throws -> [ClaimedPush]
    {
        try await claim(lane, urgency, limit: 1_000, at: now).pushes
    }

    /// Ends a claimed push.
    func end(_ push: ClaimedPush, _ state: Outcome.State = .delivered, at now: Int64) async throws {
        try await settle([Settlement(push, .ended(Outcome(state, status: 200)))], at: now)
    }

    /// The outcome of a push that has ended.
    func outcome(of push: OutboxPush) async throws -> Outcome? {
        guard case .ended(let outcome, _)? = try await status(of: push.id, of: push.lane.app)?.state else { return nil }
        return outcome
    }
}

extension ClaimedPush {
    /// The settlement of the push that the relay makes when Apple accepts every push.
    var ended: Settlement {
        let outcome = isDamaged ? Outcome(.dead, reason: Outcome.damagedReason) : Outcome(.delivered, status: 200)
        return Settlement(self, .ended(outcome))
    }
}
