// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import Testing

/// The code that the inbox copies as Swift for an example of its composer.
///
/// The functions contain the code as the inbox copies it, after a comment with the example's name. The walk of the
/// composer compares both, so that this suite compiles what users paste.
struct CopiedSwift: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let payload: String
    let send: @Sendable (PushClient) async throws -> Void

    init(_ example: String, payload: String, copied send: @escaping @Sendable (PushClient) async throws -> Void) {
        testDescription = example
        self.payload = payload
        self.send = send
    }
}

@Suite(.timeLimit(.minutes(10))) struct CopiedSwiftTests {
    /// The dates that the client chooses at the time of sending.
    private static let chosen = ["timestamp"]

    @Test(arguments: CopiedSwift.alerts + CopiedSwift.activities + CopiedSwift.others)
    func `copied code sends the payload of the push`(_ copy: CopiedSwift) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(retry: .none, checksBeforeSending: false)
        )
        // The simulator does not have the channel of the broadcast, and stores the push with its refusal.
        do throws(APNsError) {
            try await send(copy, with: client)
        } catch {
            #expect(error.reason == .channelNotRegistered)
        }
        let sent = try #require(await apns.pushes.first)
        #expect(try object(sent.payload) == object(Array(copy.payload.utf8)))
        await client.close()
        await apns.stop()
    }

    private func send(_ copy: CopiedSwift, with client: PushClient) async throws(APNsError) {
        do {
            try await copy.send(client)
        } catch let error as APNsError {
            throw error
        } catch {
            Issue.record(error)
        }
    }

    /// The payload as an object without the dates that the client chooses.
    private func object(_ payload: [UInt8]) throws -> NSDictionary {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
        var aps = object["aps"] as? [String: Any]
        for name in Self.chosen { aps?[name] = nil }
        return object.merging(["aps": aps ?? [:]]) { $1 } as NSDictionary
    }
}
