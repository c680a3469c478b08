// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The long calls of the outbox, of which each caller has one under way at a time; further ones wait in order.
///
/// The outbox works on one thread, so a call of another caller waits for at most one long call of each.
final class LongCalls: Sendable {
    private let slots = Mutex(CallSlots<CheckedContinuation<Void, Never>>(limit: 1))

    /// Begins a call once no other one of the caller is under way.
    func begin(of caller: String) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let mayBegin = slots.withLock { slots in
                let mayBegin = slots.begin(of: caller)
                if !mayBegin { slots.wait(continuation, of: caller) }
                return mayBegin
            }
            if mayBegin { continuation.resume() }
        }
    }

    /// Ends a call, and begins the next one of the caller.
    func end(of caller: String) {
        slots.withLock { $0.end(of: caller) }?.resume()
    }
}

/// The calls of apps that are under way at the same time, up to a limit for each app; further ones wait in order.
struct CallSlots<Waiter> {
    private let limit: Int
    private var counts: [String: Int] = [:]
    private var waiting: [String: [Waiter]] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// Begins a call of an app; returns false when it has to wait.
    mutating func begin(of app: String) -> Bool {
        guard counts[app, default: 0] < limit else { return false }
        counts[app, default: 0] += 1
        return true
    }

    /// Adds a call that has to wait.
    mutating func wait(_ waiter: Waiter, of app: String) {
        waiting[app, default: []].append(waiter)
    }

    /// Begins all waiting calls of an app, beyond the limit; returns them.
    mutating func beginWaiting(of app: String) -> [Waiter] {
        guard let begun = waiting.removeValue(forKey: app) else { return [] }
        counts[app, default: 0] += begun.count
        return begun
    }

    /// Ends a call of an app; returns the waiting call that takes its place, nil for none.
    mutating func end(of app: String) -> Waiter? {
        let count = counts[app, default: 0]
        if count <= limit, var rest = waiting.removeValue(forKey: app), let next = rest.first {
            rest.removeFirst()
            if !rest.isEmpty { waiting[app] = rest }
            return next
        }
        counts[app] = count > 1 ? count - 1 : nil
        return nil
    }
}
