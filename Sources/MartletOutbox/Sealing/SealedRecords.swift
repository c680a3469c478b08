// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The records of a sealed outbox.
struct SealedRecords: OutboxRecords {
    let records: any OutboxRecords
    let keeper: SealKeeper

    func unregisteredTokens(
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [UnregisteredToken] {
        let seal = try await keeper.seal()
        return try await records.unregisteredTokens(of: app, after: cursor, limit: limit).compactMap { stored in
            guard let token = seal.open(stored.token, of: app) else { return nil }
            var opened = stored
            opened.token = token
            return opened
        }
    }

    func markRegistered(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool {
        try await records.markRegistered(try await keeper.seal(token, of: app), of: app)
    }

    func pauses() async throws(OutboxError) -> [LanePause] { try await records.pauses() }

    func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause {
        try await records.pause(lane, by: caller, at: now)
    }

    func resume(_ lane: Lane) async throws(OutboxError) -> Bool { try await records.resume(lane) }

    func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [FoundPush] {
        let sealed = try await keeper.seal(token, of: app)
        return try await records.pushes(to: sealed, of: app, after: cursor, limit: limit)
    }

    func pushes(
        _ selection: PushSelection,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> FoundPushes {
        let sealed = try await keeper.seal(selection, of: app)
        return try await records.pushes(sealed, of: app, after: cursor, limit: limit)
    }

    func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter? {
        let seal = try await keeper.seal()
        return try await records.deadLetter(id, of: app).map { $0.opened(by: seal) }
    }

    func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        let seal = try await keeper.seal()
        return try await records.deadLetters(of: app, limit: limit).map { $0.opened(by: seal) }
    }

    func deleteDeadLetters(_ ids: [APNsID], of app: String) async throws(OutboxError) -> Int {
        try await records.deleteDeadLetters(ids, of: app)
    }

    func deadLetterCounts() async throws(OutboxError) -> [String: DeadLetterCount] {
        try await records.deadLetterCounts()
    }

    func cursor(of reader: String) async throws(OutboxError) -> Int64 { try await records.cursor(of: reader) }

    func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError) {
        try await records.setCursor(cursor, of: reader)
    }

    func problems(of relay: String) async throws(OutboxError) -> String? { try await records.problems(of: relay) }

    func storeProblems(
        _ problems: String,
        of relay: String,
        at now: Int64,
        deletingBefore time: Int64
    ) async throws(OutboxError) {
        try await records.storeProblems(problems, of: relay, at: now, deletingBefore: time)
    }

    func forgetAlerts(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await records.forgetAlerts(before: time, limit: limit)
    }

    func sealedKey() async throws(OutboxError) -> SealedKey? { try await records.sealedKey() }

    func addSealedKey(_ key: SealedKey) async throws(OutboxError) -> SealedKey {
        try await records.addSealedKey(key)
    }

    func sealRows(with seal: OutboxSeal) async throws(OutboxError) { try await records.sealRows(with: seal) }

    func replaceSealedKey(_ old: SealedKey, with new: SealedKey) async throws(OutboxError) {
        try await records.replaceSealedKey(old, with: new)
    }
}

extension DeadLetter {
    /// Returns the dead letter with its token and payload; without a payload, and with the token as it is stored, if
    /// the stored push is damaged.
    fileprivate func opened(by seal: OutboxSeal) -> DeadLetter {
        var letter = self
        if let push = seal.open(push) { letter.push = push } else { letter.push.payload = [] }
        return letter
    }
}
