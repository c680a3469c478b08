internal import APNs
internal import Outbox
internal import Wire

/// Callers that wait to hear how their push has ended, each for a bounded time.
struct OutcomeWaiters {
    /// Told how the push ended; nil when the time is over.
    typealias Completion = (Outcome?) -> Void

    private struct Name: Hashable {
        var app: String
        var id: APNsID
    }

    private struct Waiter {
        var number: Int
        var completion: Completion
        var timer: LoopTimer?
    }

    private var waiters: [Name: [Waiter]] = [:]
    private var lastNumber = 0
    /// Who waits.
    private(set) var count = 0

    /// Has somebody told how a push ends.
    ///
    /// - Returns: The number of the waiter, to be handed to ``giveUp(_:on:of:)``.
    mutating func add(
        for id: APNsID,
        of app: String,
        timer: (Int) -> LoopTimer?,
        _ completion: @escaping Completion
    ) {
        lastNumber += 1
        let waiter = Waiter(number: lastNumber, completion: completion, timer: timer(lastNumber))
        waiters[Name(app: app, id: id), default: []].append(waiter)
        count += 1
    }

    /// The pushes that somebody waits for.
    var names: some Collection<(app: String, id: APNsID)> { waiters.keys.lazy.map { ($0.app, $0.id) } }

    /// A push has ended.
    mutating func ended(_ id: APNsID, of app: String, _ outcome: Outcome) {
        for waiter in waiters.removeValue(forKey: Name(app: app, id: id)) ?? [] {
            count -= 1
            waiter.timer?.cancel()
            waiter.completion(outcome)
        }
    }

    /// Somebody has waited for long enough.
    mutating func giveUp(_ number: Int, on id: APNsID, of app: String) {
        let name = Name(app: app, id: id)
        guard var all = waiters[name], let index = all.firstIndex(where: { $0.number == number }) else { return }
        let waiter = all.remove(at: index)
        waiters[name] = all.isEmpty ? nil : all
        count -= 1
        waiter.completion(nil)
    }

    /// Nobody will hear any more.
    mutating func giveUpAll() {
        for waiter in waiters.values.joined() {
            waiter.timer?.cancel()
            waiter.completion(nil)
        }
        waiters = [:]
        count = 0
    }
}
