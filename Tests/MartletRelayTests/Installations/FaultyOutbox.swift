// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Synchronization

/// The model as an outbox, with a fault that the simulation of installations has to find.
final class FaultyOutbox: ModelBackedOutbox {
    enum Fault: CaseIterable, Sendable {
        /// A token stays with an installation whose registration has a later time.
        case ordersReportsByTime
        /// A 410 removes a token that was not registered after both the acceptance and Apple's time.
        case ordersRefusalsByTime
        /// A push is sent whoever has its token now.
        case sendsToFormerUsers
        /// The erasure of a user leaves the installations.
        case keepsInstallations
        /// The erasure of a user leaves the pushes.
        case keepsPushes
    }

    private let fault: Fault
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
    private let claims = Mutex<[Int64: ClaimedPush]>([:])
    var installations: any InstallationStore { FaultyInstallations(store: model.installations, fault: fault) }

    init(_ fault: Fault) {
        self.fault = fault
    }

    func claim(_ lane: Lane, _ urgency: Urgency, limit: Int, at now: Int64) -> Claim {
        var claim = model.claim(lane, urgency, limit: limit, at: now)
        for index in claim.pushes.indices where fault == .sendsToFormerUsers {
            claim.pushes[index].hasFormerUser = false
        }
        let pushes = claim.pushes
        claims.withLock { claims in
            for push in pushes { claims[push.number] = push }
        }
        return claim
    }

    @discardableResult
    func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) -> Int64 {
        for settlement in settlements where settlement.isTokenUnregistered && fault == .ordersRefusalsByTime {
            try await removeToken(settlement)
        }
        return model.settle(settlements, at: now)
    }

    private func removeToken(_ settlement: Settlement) async throws(OutboxError) {
        guard let claimed = claims.withLock({ $0[settlement.number] }),
            case .device(let token) = claimed.push.destination
        else { return }
        let until = max(claimed.acceptedAt, settlement.outcome?.unregisteredAt ?? claimed.acceptedAt)
        let store = model.installations
        for stored in try await store.installations(of: claimed.push.lane.app, .all, after: 0, limit: 1_000) {
            var new = stored.installation
            new.tokens = new.tokens.filter { $0.value.token != token || $0.value.registeredAt > until }
            _ = try await store.replace(stored, with: new)
        }
    }

    func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) -> ErasedPushes {
        guard fault != .keepsPushes else { return ErasedPushes() }
        return model.erasePushes(selection, of: app, before: cursor, limit: limit, at: now)
    }
}

private struct FaultyInstallations: WrappedInstallationStore {
    let store: any InstallationStore
    let fault: FaultyOutbox.Fault

    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool {
        var enrollment = enrollment
        enrollment.installation = try await withoutEarlierTokens(enrollment.installation)
        return try await store.enroll(enrollment, at: now)
    }

    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool {
        let new = try await withoutEarlierTokens(new)
        return try await store.replace(stored, with: new)
    }

    private func withoutEarlierTokens(_ installation: Installation) async throws(OutboxError) -> Installation {
        guard fault == .ordersReportsByTime else { return installation }
        let all = try await store.installations(of: installation.app, .all, after: 0, limit: 1_000)
        let others = all.map(\.installation).filter { $0.id != installation.id }.flatMap(\.tokens.values)
        var new = installation
        new.tokens = installation.tokens.filter { slot in
            !others.contains { $0.token == slot.value.token && $0.registeredAt > slot.value.registeredAt }
        }
        return new
    }

    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int {
        fault == .keepsInstallations ? 0 : try await store.removeUser(user, of: app)
    }
}
