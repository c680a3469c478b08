// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletOutbox

@Suite struct OutboxSealTests {
    private let seal: OutboxSeal
    private let token: DeviceToken

    init() throws {
        seal = try OutboxSeal(dataKey: [UInt8](repeating: 7, count: 32))
        token = try DeviceToken(hex: String(repeating: "5d3a6a1c", count: 8))
    }

    /// The stored form of a push, as a store returns it.
    private func sealed(_ push: OutboxPush) throws -> OutboxPush { try seal.seal(HashedPush(push)).push }

    @Test func `the sealed form of a token differs between apps`() throws {
        let form = try seal.seal(token, of: "orders")
        #expect(try seal.seal(token, of: "orders") == form)
        #expect(try seal.seal(token, of: "rides") != form)
        #expect(seal.open(form, of: "orders") == token)
        #expect(seal.open(form, of: "rides") == nil)
        #expect(seal.open(token, of: "orders") == nil)
        #expect(try OutboxSeal(dataKey: OutboxSeal.newDataKey()).open(form, of: "orders") == nil)
    }

    @Test func `a token of any length is sealed`() throws {
        for byteCount in [1, 32, 33, DeviceToken.maximumByteCount] {
            let token = try DeviceToken(bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) })
            let form = try seal.seal(token, of: "orders")
            #expect(DeviceToken(stored: form.hex) == form)
            #expect(seal.open(form, of: "orders") == token)
        }
    }

    @Test func `a push is opened as it was accepted`() throws {
        var push = try OutboxPush.numbered(1, token: token.hex, hasCallersID: true, user: "anna")
        push.orderKey = "collapse \(token.hex) o-1"
        let stored = try sealed(push)
        #expect(stored.destination != push.destination && stored.payload != push.payload)
        #expect(stored.orderKey?.contains(token.hex) == false)
        #expect(seal.open(stored) == push)
        let broadcast = OutboxPush(
            lane: .orders,
            id: APNsID(randomBits: (2, 2)),
            destination: .channel("dHN0LWNo", bundle: "com.example.orders"),
            headers: PushHeaders(pushType: "liveactivity"),
            payload: []
        )
        #expect(seal.open(try sealed(broadcast)) == broadcast)
    }

    @Test func `the same payload has another form each time`() throws {
        let push = try OutboxPush.numbered(1)
        #expect(try sealed(push).payload != sealed(push).payload)
    }

    @Test func `a push with a changed row is not opened`() throws {
        let first = try sealed(.numbered(1, expiresAt: 9_000))
        let second = try sealed(.numbered(2, token: "aabb", expiresAt: 9_000))
        var changed = [OutboxPush](repeating: first, count: 8)
        changed[0].payload = second.payload
        changed[1].destination = second.destination
        changed[2].id = second.id
        changed[3].lane.app = "rides"
        changed[4].expiresAt = 9_001
        changed[5].headers.topic = "com.example.rides"
        changed[6].payload.removeLast()
        changed[7].payload = []
        for push in changed { #expect(seal.open(push) == nil) }
        #expect(seal.open(try OutboxPush.numbered(1)) == nil, "a plain push")
    }

    @Test func `a fingerprint depends on the data key`() throws {
        let push = HashedPush(try .numbered(1, hasCallersID: true))
        let sealed = try seal.seal(push)
        #expect(sealed.fingerprint?.count == 20 && sealed.fingerprint != push.fingerprint)
        #expect(try seal.seal(push).fingerprint == sealed.fingerprint)
        let compared = try seal.sealFingerprint(of: push)
        #expect(compared.fingerprint == sealed.fingerprint && compared.push == push.push, "nothing else is sealed")
    }

    @Test func `only plain rows have a sealed form`() throws {
        let push = HashedPush(try .numbered(1, token: token.hex, hasCallersID: true))
        let sealed = try #require(
            try seal.sealedForm(ofStored: push.push, fingerprint: push.fingerprint, checksum: push.checksum)
        )
        #expect(seal.open(sealed.push) == push.push && !sealed.push.differs(from: sealed.checksum))
        let again = try seal.sealedForm(ofStored: sealed.push, fingerprint: nil, checksum: sealed.checksum)
        #expect(again.map(\.push) == nil)
        let damaged = try seal.sealedForm(ofStored: push.push, fingerprint: nil, checksum: 1)
        #expect(damaged.map { $0.push.differs(from: $0.checksum) } == true)
        let digits = try #require(try seal.sealedForm(ofStored: token.hex, of: "orders"))
        #expect(try seal.sealedForm(ofStored: digits, of: "orders") == nil)
        let fingerprint = try #require(try seal.sealedForm(ofStored: [UInt8](repeating: 1, count: 16)))
        #expect(try seal.sealedForm(ofStored: fingerprint) == nil)
    }

    @Test func `a job is opened in its row only`() throws {
        let job = Job.numbered(1)
        let stored = try seal.seal(job)
        #expect(stored.request != job.request && stored.fingerprint != job.fingerprint)
        #expect(try seal.seal(job).fingerprint == stored.fingerprint, "the store compares it")
        #expect(seal.open(stored) == job)
        var other = stored
        other.id = APNsID(randomBits: (9, 9))
        #expect(seal.open(other) == nil)
    }
}
