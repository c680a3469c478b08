// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletServer
import MartletTransport
import Testing

@testable import MartletRelay

@Suite struct APNsAuthorizationTests {
    private let sender = Callers.Caller(name: "a", apps: ["orders"], scopes: [.send], tokenIssuedAt: nil)
    private let reader = Callers.Caller(name: "b", apps: ["orders"], scopes: [.read], tokenIssuedAt: nil)

    private func decision(
        _ path: String,
        from caller: Callers.Caller?,
        isDraining: Bool = false
    ) -> APNsAuthorization.Decision {
        let fields: HTTPFields = [":method": "POST", ":path": path, "authorization": "bearer x"]
        return APNsAuthorization(isDraining: isDraining).decision(
            on: APNsRequest(fields, body: []),
            from: caller,
            rejection: { $0 == nil ? .missingProviderToken : .invalidProviderToken },
            at: 1_000_000
        )
    }

    @Test func `a request passes for a caller with the scope`() {
        #expect(decision("/3/device/5d3a", from: sender) == .passed(sender))
        #expect(decision("/1/apps/com.example.orders/channels", from: reader) == .passed(reader))
    }

    @Test func `others are rejected as APNs rejects them`() {
        #expect(decision("/5/nothing", from: sender) == .rejected(.badPath))
        #expect(decision("/3/device/5d3a", from: nil) == .rejected(.invalidProviderToken))
        #expect(decision("/3/device/5d3a", from: reader) == .rejected(.invalidProviderToken))
        #expect(decision("/3/device/5d3a", from: sender, isDraining: true) == .rejected(.shutdown, retryAfter: 1))
    }

    @Test func `expired credentials of a known caller are refused, and logged`() {
        var expired = sender
        expired.expiresAt = 1_000
        let refusal = CallerRefusal(cause: .expired, caller: "a", expiredAt: 1_000)
        #expect(decision("/3/device/5d3a", from: expired) == .invalidCredentials(refusal, .expiredProviderToken))
    }
}
