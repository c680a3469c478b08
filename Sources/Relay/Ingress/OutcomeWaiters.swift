internal import APNs
internal import Outbox
internal import Wire

/// Callers that wait to hear how their push has ended, each for a bounded time: a value without a clock.
struct OutcomeWaiters {
    /// Told how the push ended; nil when the time is over.
    typealias Completion = (Outcome?) -> Void

    private struct Name: Hashable {
        var app: String
        var id: APNsID
    }

    private struct Waiter {
        var deadline: MonotonicTime
        var completion: Completion
    }

    private var waiters: [Name: [Waiter]] = [:]
    /// Who gives up when; most have heard long before.
    private var deadlines = TimeHeap<Name>()
    private var deadlineCount = 0
    /// Who waits.
    private(set) var count = 0

    /// When somebody may have waited for long enough; nil when nobody waits.
    var nextDeadline: MonotonicTime? { count > 0 ? deadlines.earliest : nil }

    /// Has somebody told how a push ends, or that it had not by a time.
    mutating func add(
        for id: APNsID,
        of app: String,
        until deadline: MonotonicTime,
        _ completion: @escaping Completion
    ) {
        let name = Name(app: app, id: id)
        waiters[name, default: []].append(Waiter(deadline: deadline, completion: completion))
        count += 1
        deadlines.insert(name, due: deadline)
        deadlineCount += 1
        if deadlineCount > 2 * count + 1_000 { forgetDeadlines() }
    }

    /// The pushes that somebody waits for.
    var names: some Collection<(app: String, id: APNsID)> { waiters.keys.lazy.map { ($0.app, $0.id) } }

    /// A push has ended.
    mutating func ended(_ id: APNsID, of app: String, _ outcome: Outcome) {
        guard count > 0, let told = waiters.removeValue(forKey: Name(app: app, id: id)) else { return }
        count -= told.count
        for waiter in told { waiter.completion(outcome) }
    }

    /// Lets those go whose time is over.
    mutating func giveUp(at now: MonotonicTime) {
        while let name = deadlines.removeDue(by: now) {
            deadlineCount -= 1
            guard let all = waiters[name] else { continue }
            let patient = all.filter { $0.deadline > now }
            waiters[name] = patient.isEmpty ? nil : patient
            count -= all.count - patient.count
            for waiter in all where waiter.deadline <= now { waiter.completion(nil) }
        }
    }

    /// Nobody will hear any more.
    mutating func giveUpAll() {
        for waiter in waiters.values.joined() { waiter.completion(nil) }
        self = OutcomeWaiters()
    }

    /// Keeps the deadlines of those alone who still wait.
    private mutating func forgetDeadlines() {
        deadlines = TimeHeap()
        for (name, waiting) in waiters {
            for waiter in waiting { deadlines.insert(name, due: waiter.deadline) }
        }
        deadlineCount = count
    }
}
