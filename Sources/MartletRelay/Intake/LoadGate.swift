// SPDX-License-Identifier: Apache-2.0

/// Decides which pushes are accepted when more come in than can be stored.
///
/// Each push is decided about once: over the APNs protocol before it is checked, so that a refusal is cheap; over JSON
/// when its apps are known, and for a push to a user also before the look-up of the user. A refusal includes a time to
/// retry after. Apps share the capacity: an app that uses less than its share is never refused because another one uses
/// more.
struct LoadGate {
    /// Limits of the pushes and requests under way.
    struct Limits: Sendable {
        /// The maximum number of pushes that wait to be stored.
        var incoming = 20_000
        /// The maximum duration of a commit before further pushes are refused, in milliseconds.
        var commitTime: Int64 = 2_000
        /// The time after which the callers of a commit under way get an error, in milliseconds: shorter than the
        /// timeouts of common clients, and than the five seconds that the documentation promises.
        var answerTime: Int64 = 4_500
        /// The maximum number of requests that wait for Apple's answer; others are answered when their push is stored.
        var waiting = 50_000
        /// The maximum number of requests of one caller that wait for Apple's answer.
        var waitingPerCaller = 5_000

        /// Lowers the limits of waiting requests, each of which may hold a connection: together they take at most three
        /// quarters of the connections, and those of one caller half.
        func bounded(byConnections connections: Int) -> Limits {
            var limits = self
            limits.waiting = min(waiting, connections / 4 * 3)
            limits.waitingPerCaller = min(waitingPerCaller, connections / 2)
            return limits
        }
    }

    /// The pushes and requests under way.
    struct Load {
        /// The number of pushes that wait to be stored.
        var incoming: Int
        /// The number of those of the app that sends; nil when it is not known yet.
        var incomingOfApp: Int?
        /// The number of apps with pushes that wait to be stored, besides this one.
        var otherApps = 0
        /// The start of the oldest commit under way; nil when there is none.
        var waitsSince: Int64?
        /// The number of requests that wait for Apple's answer.
        var waiting: Int
        /// The number of those of the caller.
        var waitingOfCaller = 0
    }

    /// A decision about incoming pushes.
    enum Decision: Equatable {
        /// The pushes are accepted; the caller may wait for Apple's answer, or is answered when they are stored.
        case take(mayWait: Bool)
        /// The pushes are refused; the caller may retry after a number of seconds.
        case refuse(Refusal, retryAfter: Int)
    }

    enum Refusal: Equatable {
        /// The outbox has reached its limit.
        case outboxIsFull
        /// The disk or the database has not answered since a time in milliseconds since 1970.
        case storeDoesNotAnswer(since: Int64)
        /// More pushes come in than can be stored.
        case tooManyIncoming
    }

    /// The time for which pushes are refused after the outbox was full, in milliseconds.
    private static let fullTime: Int64 = 1_000

    let limits: Limits
    private var fullUntil: Int64?

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Records that the outbox has refused pushes because of its limit.
    mutating func outboxIsFull(at now: Int64) {
        fullUntil = now + LoadGate.fullTime
    }

    /// Decides about a number of pushes of one app that come in together.
    ///
    /// A batch can wait, and uses at most half of the capacity.
    func decision(on count: Int, _ load: Load, isBatch: Bool = false, at now: Int64) -> Decision {
        // A clock that was set back makes no caller wait.
        if let fullUntil, (1...LoadGate.fullTime).contains(fullUntil - now) {
            return .refuse(.outboxIsFull, retryAfter: 30)
        }
        if let since = load.waitsSince, now - since > limits.commitTime {
            return .refuse(.storeDoesNotAnswer(since: since), retryAfter: 5)
        }
        let room = isBatch ? limits.incoming / 2 : limits.incoming
        guard hasRoom(for: count, load, in: room) else { return .refuse(.tooManyIncoming, retryAfter: 1) }
        return .take(mayWait: mayWait(load))
    }

    /// Returns why pushes of several apps that come in together are refused; nil if they are taken.
    func refusal(of numbers: [(count: Int, load: Load)], isBatch: Bool, at now: Int64) -> Refusal? {
        for (count, load) in numbers {
            if case .refuse(let refusal, _) = decision(on: count, load, isBatch: isBatch, at: now) { return refusal }
        }
        return nil
    }

    /// Returns whether another request may wait for the outcome of a push, also of one that was accepted earlier.
    func mayWait(_ load: Load) -> Bool {
        load.waiting < limits.waiting && load.waitingOfCaller < limits.waitingPerCaller
    }

    private func hasRoom(for count: Int, _ load: Load, in room: Int) -> Bool {
        if load.incoming == 0 || load.incoming + count <= room { return true }
        // When all apps use their shares, this is at most twice the capacity.
        guard let own = load.incomingOfApp else { return load.incoming < 2 * room }
        return own + count <= room / (load.otherApps + 1)
    }
}
