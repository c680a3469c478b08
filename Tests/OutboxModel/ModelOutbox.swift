// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletOutbox
internal import Synchronization

/// The model as an outbox, so that the conformance suite holds it to the same promises as the engines.
package final class ModelOutbox: OutboxStore {
    /// The place of a model between two openings.
    package final class Disk: Sendable {
        let model = Mutex(OutboxModel())

        package init() {}
    }

    private let disk: Disk
    package var records: any OutboxRecords { ModelRecords(disk: disk) }
    package var installations: any InstallationStore { ModelInstallations(disk: disk) }
    package var jobs: any JobStore { ModelJobs(disk: disk) }
    package var surfaces: any SurfaceStore { ModelSurfaces(disk: disk) }
    package var shared: (any SharedOutbox)? { nil }
    package var localFile: (any OutboxFile)? { nil }
    package var measures: OutboxMeasures { OutboxMeasures() }

    package init(on disk: Disk, limit: Int) {
        self.disk = disk
        disk.model.withLock { model in
            model.limit = limit
            model.restart(inOrder: false)
        }
    }

    package func accept(_ pushes: [HashedPush], at now: Int64) -> [Acceptance] {
        disk.model.withLock { $0.accept(pushes.map(\.push), at: now) }
    }

    package func conflicts(with pushes: [HashedPush]) -> Set<Int> {
        disk.model.withLock { $0.conflicts(with: pushes.map(\.push)) }
    }

    package func claim(_ lane: Lane, _ urgency: Urgency, limit: Int, at now: Int64) -> Claim {
        disk.model.withLock { $0.claim(lane, urgency, limit: limit, at: now) }
    }

    @discardableResult
    package func settle(_ settlements: [Settlement], at now: Int64) -> Int64 {
        disk.model.withLock { $0.settle(settlements, at: now) }
        return now
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) -> PushStatus? {
        disk.model.withLock { $0.cancel(id, of: app, at: now) }
    }

    package func status(of id: APNsID, of app: String) -> PushStatus? {
        disk.model.withLock { model in
            var status = model.status(of: id, of: app)
            status?.surface = model.place(of: id, of: app)
            return status
        }
    }

    package func expire(at now: Int64, limit: Int) -> [PushStatus] {
        disk.model.withLock { $0.expire(at: now, limit: limit) }
    }

    package func forgetOutcomes(before time: Int64, limit: Int) -> Int {
        disk.model.withLock { $0.forgetOutcomes(before: time, limit: limit) }
    }

    package func backlog() -> [Backlog] { disk.model.withLock { $0.backlog() } }

    package func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) -> PurgedPushes {
        disk.model.withLock { $0.purge(lane, upTo: last, limit: limit, at: now) }
    }

    package func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) -> ErasedPushes {
        disk.model.withLock { $0.erasePushes(selection, of: app, before: cursor, limit: limit, at: now) }
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) -> Int {
        disk.model.withLock { $0.requeueDeadLetters(ids, of: app, at: now) }
    }

    package func close(isInOrder: Bool) {
        disk.model.withLock { $0.restart(inOrder: isInOrder) }
    }
}

/// The records of a model.
private struct ModelRecords: OutboxRecords {
    let disk: ModelOutbox.Disk

    func unregisteredTokens(of app: String, after cursor: Int64, limit: Int) -> [UnregisteredToken] {
        disk.model.withLock { $0.unregisteredTokens(of: app, after: cursor, limit: limit) }
    }

    func markRegistered(_ token: DeviceToken, of app: String) -> Bool {
        disk.model.withLock { $0.markRegistered(token, of: app) }
    }

    func pauses() -> [LanePause] { disk.model.withLock { $0.allPauses } }

    func pause(_ lane: Lane, by caller: String, at now: Int64) -> LanePause {
        disk.model.withLock { $0.pause(lane, by: caller, at: now) }
    }

    func resume(_ lane: Lane) -> Bool { disk.model.withLock { $0.resume(lane) } }

    func pushes(to token: DeviceToken, of app: String, after cursor: Int64, limit: Int) -> [FoundPush] {
        disk.model.withLock { $0.pushes(to: token, of: app, after: cursor, limit: limit) }
    }

    func pushes(_ selection: PushSelection, of app: String, after cursor: Int64, limit: Int) -> FoundPushes {
        disk.model.withLock { $0.pushes(selection, of: app, after: cursor, limit: limit) }
    }

    func deadLetter(_ id: APNsID, of app: String) -> DeadLetter? {
        disk.model.withLock { $0.deadLetter(id, of: app) }
    }

    func deadLetters(of app: String, limit: Int) -> [DeadLetter] {
        disk.model.withLock { $0.deadLetters(of: app, limit: limit) }
    }

    func deleteDeadLetters(_ ids: [APNsID], of app: String) -> Int {
        disk.model.withLock { $0.deleteDeadLetters(ids, of: app) }
    }

    func deadLetterCounts() -> [String: DeadLetterCount] { disk.model.withLock { $0.deadLetterCounts } }

    func cursor(of reader: String) -> Int64 { disk.model.withLock { $0.readers[reader] ?? 0 } }

    func setCursor(_ cursor: Int64, of reader: String) {
        disk.model.withLock { $0.readers[reader] = cursor }
    }

    func problems(of relay: String) -> String? { disk.model.withLock { $0.problems[relay]?.text } }

    func storeProblems(_ problems: String, of relay: String, at now: Int64, deletingBefore time: Int64) {
        disk.model.withLock { model in
            model.problems = model.problems.filter { $0.value.storedAt >= time }
            model.problems[relay] = (text: problems, storedAt: now)
        }
    }

    func forgetAlerts(before time: Int64, limit: Int) -> Int {
        disk.model.withLock { $0.alerts.forget(before: time, limit: limit) }
    }
}
