// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The key of a push in a ``PushTable``; a key is never used again.
struct PushKey: Hashable {
    fileprivate let slot: UInt32
    fileprivate let serial: UInt32

    /// The index of the push among those in the table, which a later push gets after the result has been taken.
    var index: Int { Int(slot) }
}

/// The pushes of a pool, from their submission until their results have been taken.
///
/// Queues may keep the key of a settled push: ``isSettled(_:)`` is true for it forever.
struct PushTable {
    /// The number of slots that are kept when the table is empty.
    static let spareSlots = 1_024

    private var slots: [(serial: UInt32, push: PushState)] = []
    private var freeSlots: [UInt32] = []
    private var lastSerial: UInt32 = 0
    /// The failures of the last attempts of pushes, and of settled pushes; separate from the state, which thereby has
    /// no reference-counted property that changes.
    private var failures: [PushKey: APNsError] = [:]
    /// The number of pushes that are not settled.
    private(set) var unsettledCount = 0

    /// Whether there is neither a push nor a result.
    var isEmpty: Bool { freeSlots.count == slots.count }

    /// The keys of the pushes that are not settled.
    var unsettled: [PushKey] {
        slots.indices.compactMap { index in
            guard slots[index].serial != 0, !slots[index].push.isSettled else { return nil }
            return PushKey(slot: UInt32(index), serial: slots[index].serial)
        }
    }

    mutating func insert(_ push: PushState) -> PushKey {
        unsettledCount += 1
        lastSerial &+= 1
        if lastSerial == 0 { lastSerial = 1 }
        guard let slot = freeSlots.popLast() else {
            slots.append((lastSerial, push))
            return PushKey(slot: UInt32(slots.count - 1), serial: lastSerial)
        }
        slots[Int(slot)] = (lastSerial, push)
        return PushKey(slot: slot, serial: lastSerial)
    }

    /// Returns whether a push has its result, which may have been taken.
    func isSettled(_ key: PushKey) -> Bool {
        guard key.index < slots.count, slots[key.index].serial == key.serial else { return true }
        return slots[key.index].push.isSettled
    }

    /// The state of a push whose result has not been taken.
    subscript(key: PushKey) -> PushState {
        _read { yield slots[key.index].push }
        _modify { yield &slots[key.index].push }
    }

    /// Returns the failure of the last attempt of a push; nil when there was none.
    func lastFailure(of key: PushKey) -> APNsError? {
        failures.isEmpty ? nil : failures[key]
    }

    /// Records the failure of an attempt.
    mutating func failed(_ key: PushKey, _ failure: APNsError) {
        failures[key] = failure
    }

    /// Returns the failure of a push that ends now for this reason: the outcome is that of its last attempt.
    func failure(of key: PushKey, because reason: APNsError) -> APNsError {
        var error = reason.properties
        let lastFailure = lastFailure(of: key)
        if self[key].isInFlight {
            error.outcome = .unknown
        } else if let last = lastFailure {
            error.outcome = last.outcome
            if error.reason == nil {
                error.status = last.status
                error.reason = last.reason
            }
            error.description += "; the last attempt: \(last.description)"
        }
        error.lastFailure = lastFailure
        return APNsError(error)
    }

    /// Settles a push with a failure, to which the facts of all attempts are added, or as accepted when it is nil.
    ///
    /// - Returns: The outcome of the failure; nil when the push is accepted.
    mutating func settle(_ key: PushKey, _ failure: APNsError?, at now: MonotonicTime) -> APNsError.Outcome? {
        slots[key.index].push.move(to: .settled, at: now)
        unsettledCount -= 1
        guard var failure = failure?.properties else {
            if !failures.isEmpty { failures[key] = nil }
            return nil
        }
        let state = slots[key.index].push
        failure.id = state.id
        failure.attempts = state.attempts
        failure.unknownTries = state.unknownTries
        failure.timing = state.timing
        // A known outcome of the last attempt does not change the unknown outcome of an earlier one.
        if failure.unknownTries > 0, failure.outcome != .answered { failure.outcome = .unknown }
        failures[key] = APNsError(failure)
        return failure.outcome
    }

    mutating func takeResult(of key: PushKey) -> PushResult {
        let result = PushResult(
            attempts: slots[key.index].push.attempts,
            unknownTries: slots[key.index].push.unknownTries,
            timing: slots[key.index].push.timing,
            failure: failures.isEmpty ? nil : failures.removeValue(forKey: key)
        )
        slots[key.index].serial = 0
        freeSlots.append(key.slot)
        if isEmpty, slots.count > PushTable.spareSlots {
            slots = []
            freeSlots = []
        }
        return result
    }
}

/// The result of a push.
struct PushResult {
    /// The number of times the push was sent on a connection.
    var attempts: Int
    /// The number of earlier attempts that were sent and not answered.
    var unknownTries: Int
    var timing: SendTiming
    /// The reason why the push was not accepted; nil when it was accepted.
    var failure: APNsError?
}
