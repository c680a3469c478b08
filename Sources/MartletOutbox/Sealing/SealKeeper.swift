// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport
internal import Synchronization

/// The seal of an outbox and the keys of the operator.
///
/// The seal is loaded when the outbox is first used, because an outbox may be opened later than its relay starts.
final class SealKeeper: Sendable {
    private struct State {
        var keys: SealingKeys
        /// The seal; nil until it is loaded.
        var seal: OutboxSeal?
        /// The loading under way, which concurrent calls share, because it may seal all rows.
        var loading: Task<Result<OutboxSeal, OutboxError>, Never>?
    }

    private let state: Mutex<State>
    private let records: any OutboxRecords

    /// Creates a keeper that has loaded nothing.
    init(_ keys: SealingKeys, _ records: any OutboxRecords) {
        state = Mutex(State(keys: keys))
        self.records = records
    }

    /// Returns the seal.
    ///
    /// - Returns: The seal, which never changes once it is loaded.
    /// - Throws: ``OutboxError`` while the outbox cannot be read, and when the keys do not open it.
    func seal() async throws(OutboxError) -> OutboxSeal {
        if let seal = state.withLock(\.seal) { return seal }
        let loading = state.withLock { state in
            if let loading = state.loading { return loading }
            let loading = Task { await self.load() }
            state.loading = loading
            return loading
        }
        return try await loading.value.get()
    }

    /// Loads the seal, unless the outbox cannot be read yet.
    ///
    /// - Throws: ``OutboxError`` when the keys do not open the outbox, or it cannot be sealed.
    func prepare() async throws(OutboxError) {
        do throws(OutboxError) {
            _ = try await records.sealedKey()
        } catch {
            return
        }
        _ = try await seal()
    }

    /// Replaces the keys of the operator, of which the first seals the data key again.
    ///
    /// - Parameter keys: The keys.
    /// - Throws: ``OutboxError`` when the keys do not open the outbox, or it cannot be written; the previous keys stay
    ///   in use then.
    func use(_ keys: SealingKeys) async throws(OutboxError) {
        guard let stored = try await records.sealedKey() else { return state.withLock { $0.keys = keys } }
        _ = try await seal(stored, again: keys)
        state.withLock { $0.keys = keys }
    }

    private func load() async -> Result<OutboxSeal, OutboxError> {
        defer { state.withLock { $0.loading = nil } }
        do throws(OutboxError) {
            return .success(try await loadSeal())
        } catch {
            return .failure(error)
        }
    }

    private func loadSeal() async throws(OutboxError) -> OutboxSeal {
        let keys = state.withLock(\.keys)
        let found = try await records.sealedKey()
        let stored = if let found { found } else { try await addKey(with: keys) }
        let dataKey = try await seal(stored, again: keys)
        let seal = try OutboxError.mapping { () throws(CryptographyError) in try OutboxSeal(dataKey: dataKey) }
        if !stored.isComplete { try await records.sealRows(with: seal) }
        state.withLock { $0.seal = seal }
        return seal
    }

    /// Stores a new data key, and returns the stored one: another relay may have been first.
    private func addKey(with keys: SealingKeys) async throws(OutboxError) -> SealedKey {
        let key = try OutboxError.mapping { () throws(CryptographyError) in
            try SealedKey(OutboxSeal.newDataKey(), with: keys.first)
        }
        return try await records.addSealedKey(key)
    }

    /// Seals the data key with the first of the keys, unless it is, and returns it.
    private func seal(_ stored: SealedKey, again keys: SealingKeys) async throws(OutboxError) -> [UInt8] {
        let dataKey = try stored.open(with: keys)
        guard stored.number != keys.first.number else { return dataKey }
        let new = try OutboxError.mapping { () throws(CryptographyError) in try SealedKey(dataKey, with: keys.first) }
        try await records.replaceSealedKey(stored, with: new)
        return dataKey
    }
}
