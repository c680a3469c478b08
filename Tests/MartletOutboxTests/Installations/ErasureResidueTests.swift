// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The content of the files of an outbox after the removal of a user.
@Suite(.timeLimit(.minutes(10))) struct ErasureResidueTests {
    private static let user = "anna-who-is-removed"
    private static let surface = "the-order-of-a-removed-user"
    private static let secret = "a payload that must not stay"

    /// Returns how often the file and its log contain a text.
    private func count(_ text: String, in path: String) throws -> Int {
        var count = 0
        for name in [path, path + "-wal"] where FileManager.default.fileExists(atPath: name) {
            var rest = try Data(contentsOf: URL(fileURLWithPath: name))[...]
            while let found = rest.range(of: Data(text.utf8)) {
                count += 1
                rest = rest[found.upperBound...]
            }
        }
        return count
    }

    @Test(arguments: [OutboxEngine.sqlite, .sealedSQLite])
    func `a removed user is not in the file and its log`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let path = place.file
        let outbox = try await place.open()
        let token = "00112233445566778899aabbccddeeff"
        var phone = try Installation.numbered(1, user: Self.user).with(token)
        phone.activities["A"] = Installation.Activity(of: Self.surface)
        try await outbox.installations.enroll(phone)
        // Some payloads have pages of their own, some pushes have ended before, and one is a dead letter.
        for number in 1...40 as ClosedRange<UInt64> {
            let payload = String(repeating: Self.secret, count: number.isMultiple(of: 2) ? 1 : 140)
            let push = try OutboxPush.numbered(number, token: token, payload: payload, user: Self.user)
            #expect(try await outbox.accept([push], at: 100) == [.accepted])
        }
        for push in try await outbox.claim(.orders, .immediate, limit: 10, at: 100).pushes {
            let state = push.number == 1 ? Outcome.State.dead : .delivered
            try await outbox.settle([Settlement(push, .ended(Outcome(state)))], at: 200)
        }
        #expect(try count(Self.user, in: path) > 0 && count(Self.surface, in: path) > 0)
        #expect(try (count(Self.secret, in: path) > 0) == (engine == .sqlite))
        _ = try await outbox.erasePushes(ofUser: Self.user, at: 300)
        #expect(try await outbox.installations.removeUser(Self.user, of: "orders") == 1)
        try await outbox.localFile?.discardRemovedContent()
        #expect(try count(Self.user, in: path) == 0 && count(Self.secret, in: path) == 0)
        #expect(try count(Self.surface, in: path) == 0)
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        #expect(log.isEmpty)
        // The log is used again, and is intact when the file is opened.
        _ = try await outbox.accept([OutboxPush.numbered(50)], at: 400)
        await outbox.close(isInOrder: true)
        let again = try await place.open()
        #expect(try await again.backlog().map(\.count) == [1])
        await again.close(isInOrder: true)
    }
}
