// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

/// A fleet whose common clock a test sets.
struct ClockedFleet: OutboxFleet {
    let fleet: any OutboxFleet
    let clock: TestClock

    init(_ fleet: any OutboxFleet, _ clock: TestClock) {
        self.fleet = fleet
        self.clock = clock
    }

    func time() -> Int64 { clock.now }

    func nodes() async throws(OutboxError) -> [OutboxNode] { try await fleet.nodes() }

    func requestDrain(_ number: Int64) async throws(OutboxError) -> Bool { try await fleet.requestDrain(number) }

    func publish(_ data: String) async { await fleet.publish(data) }

    func ended(among pushes: [(app: String, id: APNsID)]) async throws(OutboxError) -> [PushStatus] {
        try await fleet.ended(among: pushes)
    }

    func sharedToken(of key: SharedToken.Key) async throws(OutboxError) -> SharedToken? {
        try await fleet.sharedToken(of: key)
    }

    func share(
        _ token: SharedToken,
        of key: SharedToken.Key,
        inPlaceOf old: Int64?
    ) async throws(OutboxError) -> SharedToken {
        try await fleet.share(token, of: key, inPlaceOf: old)
    }
}
