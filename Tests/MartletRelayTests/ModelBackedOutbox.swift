// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel

/// An outbox that passes each call to the model, except for those that it implements itself.
protocol ModelBackedOutbox: OutboxStore {
    var model: ModelOutbox { get }
}

extension ModelBackedOutbox {
    var records: any OutboxRecords { model.records }
    var installations: any InstallationStore { model.installations }
    var jobs: any JobStore { model.jobs }
    var surfaces: any SurfaceStore { model.surfaces }
    var shared: (any SharedOutbox)? { model.shared }
    var localFile: (any OutboxFile)? { model.localFile }
    var measures: OutboxMeasures { model.measures }

    func accept(_ pushes: [HashedPush], at now: Int64) -> [Acceptance] { model.accept(pushes, at: now) }

    func conflicts(with pushes: [HashedPush]) -> Set<Int> { model.conflicts(with: pushes) }

    func claim(_ lane: Lane, _ urgency: Urgency, limit: Int, at now: Int64) -> Claim {
        model.claim(lane, urgency, limit: limit, at: now)
    }

    @discardableResult
    func settle(_ settlements: [Settlement], at now: Int64) -> Int64 { model.settle(settlements, at: now) }

    func cancel(_ id: APNsID, of app: String, at now: Int64) -> PushStatus? { model.cancel(id, of: app, at: now) }

    func status(of id: APNsID, of app: String) -> PushStatus? { model.status(of: id, of: app) }

    func expire(at now: Int64, limit: Int) -> [PushStatus] { model.expire(at: now, limit: limit) }

    func forgetOutcomes(before time: Int64, limit: Int) -> Int { model.forgetOutcomes(before: time, limit: limit) }

    func backlog() -> [Backlog] { model.backlog() }

    func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) -> PurgedPushes {
        model.purge(lane, upTo: last, limit: limit, at: now)
    }

    func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) -> ErasedPushes {
        model.erasePushes(selection, of: app, before: cursor, limit: limit, at: now)
    }

    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) -> Int {
        model.requeueDeadLetters(ids, of: app, at: now)
    }

    func close(isInOrder: Bool) { model.close(isInOrder: isInOrder) }
}

/// A store of installations that passes each call to another one, except for those that it implements itself.
protocol WrappedInstallationStore: InstallationStore {
    var store: any InstallationStore { get }
}

extension WrappedInstallationStore {
    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool {
        try await store.enroll(enrollment, at: now)
    }

    func importPage(
        _ page: [Installation],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) -> [ImportResult] {
        try await store.importPage(page, of: app, at: now)
    }

    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool {
        try await store.replace(stored, with: new)
    }

    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int {
        try await store.removeUser(user, of: app)
    }

    func add(_ ticket: EnrollmentTicket, at now: Int64) async throws(OutboxError) {
        try await store.add(ticket, at: now)
    }

    func ticket(_ hash: [UInt8], at now: Int64) async throws(OutboxError) -> EnrollmentTicket? {
        try await store.ticket(hash, at: now)
    }

    func remove(_ id: InstallationID, of app: String) async throws(OutboxError) -> Bool {
        try await store.remove(id, of: app)
    }

    func installation(_ id: InstallationID, of app: String) async throws(OutboxError) -> StoredInstallation? {
        try await store.installation(id, of: app)
    }

    func installation(withSecret hash: [UInt8]) async throws(OutboxError) -> StoredInstallation? {
        try await store.installation(withSecret: hash)
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation] {
        try await store.installations(of: app, selection, after: cursor, limit: limit)
    }

    func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]] {
        try await store.members(of: queries, in: app)
    }

    func audiencePage(of scan: AudienceScan, limit: Int) async throws(OutboxError) -> AudiencePage {
        try await store.audiencePage(of: scan, limit: limit)
    }
}
