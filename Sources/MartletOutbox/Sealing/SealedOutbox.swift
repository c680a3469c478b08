// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletTransport

/// An outbox that stores tokens, payloads, the requests of jobs and surfaces, and the states of sessions encrypted, in
/// any other store.
///
/// It seals on the executor of the caller what goes into the store, and opens what comes out of it. The store compares
/// and moves sealed values as it does with plain ones: a sealed token is a token, and a sealed payload is a payload.
/// ``OutboxSeal`` has the forms, and ``SealingKeys`` the keys.
package struct SealedOutbox: OutboxStore {
    private let store: any OutboxStore
    private let keeper: SealKeeper

    /// Creates a sealed outbox.
    ///
    /// - Parameters:
    ///   - store: The store, which was opened for sealed rows.
    ///   - keys: The keys of the operator.
    package init(_ store: any OutboxStore, keys: SealingKeys) {
        self.store = store
        keeper = SealKeeper(keys, store.records)
    }

    /// Checks that the keys open the outbox, and seals an outbox that is not sealed yet.
    ///
    /// While the outbox cannot be read, this does nothing, and the first successful call does both.
    ///
    /// - Throws: ``OutboxError`` when the keys do not open the outbox, or it cannot be sealed.
    package func prepare() async throws(OutboxError) { try await keeper.prepare() }

    /// Replaces the keys of the operator, of which the first seals the outbox.
    ///
    /// - Parameter keys: The keys.
    /// - Throws: ``OutboxError`` when the keys do not open the outbox, or it cannot be written; the previous keys stay
    ///   in use then.
    package func use(_ keys: SealingKeys) async throws(OutboxError) { try await keeper.use(keys) }

    package var records: any OutboxRecords { SealedRecords(records: store.records, keeper: keeper) }
    package var installations: any InstallationStore {
        SealedInstallations(store: store.installations, keeper: keeper)
    }
    package var jobs: any JobStore { SealedJobs(store: store.jobs, keeper: keeper) }
    package var surfaces: any SurfaceStore { SealedSurfaces(store: store.surfaces, keeper: keeper) }
    package var shared: (any SharedOutbox)? { store.shared }
    package var localFile: (any OutboxFile)? { store.localFile }
    package var measures: OutboxMeasures { get async { await store.measures } }

    // MARK: Pushes

    package func accept(_ pushes: [HashedPush], at now: Int64) async throws(OutboxError) -> [Acceptance] {
        let sealed = try await keeper.seal(pushes)
        let answers = try await store.accept(sealed, at: now)
        return zip(pushes, answers).map { hashed, answer in
            guard case .suppressed(var record) = answer, case .device(let token) = hashed.push.destination else {
                return answer
            }
            record.token = token
            return .suppressed(record)
        }
    }

    package func conflicts(with pushes: [HashedPush]) async throws(OutboxError) -> Set<Int> {
        let seal = try await keeper.seal()
        var sealed: [HashedPush] = []
        for push in pushes {
            sealed.append(
                try OutboxError.mapping { () throws(CryptographyError) in try seal.sealFingerprint(of: push) }
            )
        }
        return try await store.conflicts(with: sealed)
    }

    package func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> Claim {
        let seal = try await keeper.seal()
        var claim = try await store.claim(lane, urgency, limit: limit, at: now)
        for index in claim.pushes.indices {
            if let push = seal.open(claim.pushes[index].push) {
                claim.pushes[index].push = push
            } else {
                claim.pushes[index].isDamaged = true
            }
        }
        return claim
    }

    @discardableResult
    package func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) -> Int64 {
        try await store.settle(settlements, at: now)
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus? {
        try await store.cancel(id, of: app, at: now)
    }

    package func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        try await store.status(of: id, of: app)
    }

    package func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus] {
        try await store.expire(at: now, limit: limit)
    }

    package func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await store.forgetOutcomes(before: time, limit: limit)
    }

    package func backlog() async throws(OutboxError) -> [Backlog] { try await store.backlog() }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> PurgedPushes {
        try await store.purge(lane, upTo: last, limit: limit, at: now)
    }

    package func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> ErasedPushes {
        let sealed = try await keeper.seal(selection, of: app)
        return try await store.erasePushes(sealed, of: app, before: cursor, limit: limit, at: now)
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int {
        try await store.requeueDeadLetters(ids, of: app, at: now)
    }

    package func close(isInOrder: Bool) async { await store.close(isInOrder: isInOrder) }
}

extension SealKeeper {
    /// Returns pushes as they are stored.
    func seal(_ pushes: [HashedPush]) async throws(OutboxError) -> [HashedPush] {
        let seal = try await seal()
        var sealed: [HashedPush] = []
        sealed.reserveCapacity(pushes.count)
        for push in pushes {
            sealed.append(try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(push) })
        }
        return sealed
    }

    /// Returns a token as it is stored.
    func seal(_ token: DeviceToken, of app: String) async throws(OutboxError) -> DeviceToken {
        let seal = try await seal()
        return try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(token, of: app) }
    }

    /// Returns a selection with a token as it is stored.
    func seal(_ selection: PushSelection, of app: String) async throws(OutboxError) -> PushSelection {
        guard case .tokenWithoutUser(let token) = selection else { return selection }
        return .tokenWithoutUser(try await seal(token, of: app))
    }

    /// Returns installations as they are stored.
    func seal(_ installations: [Installation]) async throws(OutboxError) -> [Installation] {
        let seal = try await seal()
        var sealed: [Installation] = []
        for installation in installations {
            sealed.append(try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(installation) })
        }
        return sealed
    }
}
