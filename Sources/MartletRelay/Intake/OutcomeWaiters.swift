// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The callers that wait for the outcome of a push, each for a limited time.
struct OutcomeWaiters {
    /// A callback with the push that has ended; nil when the time is over.
    typealias Completion = @Sendable (PushStatus?) -> Void

    private struct PushKey: Hashable {
        var app: String
        var id: APNsID
    }

    private struct Waiter {
        var key: PushKey
        var caller: String
        var deadline: MonotonicTime
        var completion: Completion
    }

    private var waiters: [Int: Waiter] = [:]
    private var numbers: [PushKey: [Int]] = [:]
    private var counts: [String: Int] = [:]
    private var deadlines = TimeHeap<Int>()
    private var deadlineCount = 0
    private var lastNumber = 0

    var count: Int { waiters.count }

    var countsByCaller: [String: Int] { counts }

    func count(of caller: String) -> Int { counts[caller, default: 0] }

    /// The next time at which ``expire(at:)`` may have something to do; nil when there are no waiters.
    var nextDeadline: MonotonicTime? { waiters.isEmpty ? nil : deadlines.earliest }

    /// The pushes that callers wait for.
    var names: some Collection<(app: String, id: APNsID)> { numbers.keys.lazy.map { ($0.app, $0.id) } }

    /// Returns a unique number for ``add(_:for:of:by:until:_:)``.
    mutating func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a waiter; the callback is called once, also when the waiter is cancelled by its number.
    mutating func add(
        _ number: Int,
        for id: APNsID,
        of app: String,
        by caller: String,
        until deadline: MonotonicTime,
        _ completion: @escaping Completion
    ) {
        let key = PushKey(app: app, id: id)
        waiters[number] = Waiter(key: key, caller: caller, deadline: deadline, completion: completion)
        numbers[key, default: []].append(number)
        counts[caller, default: 0] += 1
        deadlines.insert(number, due: deadline)
        deadlineCount += 1
        if deadlineCount > 2 * waiters.count + 1_000 { forgetDeadlines() }
    }

    /// Completes the waiters for a push if it has ended.
    mutating func report(_ push: PushStatus) {
        guard push.outcome != nil, !waiters.isEmpty, let ended = numbers[PushKey(app: push.lane.app, id: push.id)]
        else { return }
        for number in ended { remove(number)?.completion(push) }
    }

    /// Completes a waiter as if its time were over, because its client has disconnected.
    mutating func cancel(_ number: Int) {
        remove(number)?.completion(nil)
    }

    /// Completes the waiters whose time is over.
    mutating func expire(at now: MonotonicTime) {
        while let number = deadlines.removeDue(by: now) {
            deadlineCount -= 1
            remove(number)?.completion(nil)
        }
    }

    /// Completes the waiters of some callers, or all of them.
    mutating func cancelAll(where isUnwanted: (_ caller: String) -> Bool = { _ in true }) {
        for (number, waiter) in waiters where isUnwanted(waiter.caller) { remove(number)?.completion(nil) }
    }

    private mutating func remove(_ number: Int) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: number) else { return nil }
        numbers[waiter.key]?.removeAll { $0 == number }
        if numbers[waiter.key]?.isEmpty ?? false { numbers[waiter.key] = nil }
        let rest = counts[waiter.caller, default: 0] - 1
        counts[waiter.caller] = rest > 0 ? rest : nil
        return waiter
    }

    /// Drops the deadlines of waiters that were completed before their time.
    private mutating func forgetDeadlines() {
        deadlines = TimeHeap()
        for (number, waiter) in waiters { deadlines.insert(number, due: waiter.deadline) }
        deadlineCount = waiters.count
    }
}
