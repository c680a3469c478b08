/// Decides what is taken when more comes in than can be stored: a value without I/O.
///
/// A refusal comes before the push is looked at, so that it costs little, and says when to come again. Apps share the
/// room: an app that uses less than its share is never refused because another one uses more.
struct LoadGate {
    /// The bounds of what may be under way.
    struct Limits: Sendable {
        /// Pushes that wait for the disk.
        var incoming = 20_000
        /// The time that the disk may take before no more is handed to it, in milliseconds.
        var commitTime: Int64 = 2_000
        /// Requests that wait for Apple's answer; others are answered at once that their push is stored.
        var waiting = 50_000
        /// Requests of one caller that wait for Apple's answer.
        var waitingPerCaller = 5_000
    }

    /// The pushes and requests under way.
    struct Load {
        /// Pushes that wait for the disk.
        var incoming: Int
        /// Those of the app that sends; nil when it is not known yet.
        var incomingOfApp: Int?
        /// The number of apps with pushes that wait for the disk, besides this one.
        var otherApps = 0
        /// The start of the oldest commit that the disk is at; nil when it has none.
        var waitsSince: Int64?
        /// Requests that wait for Apple's answer.
        var waiting: Int
        /// Those of the caller.
        var waitingOfCaller = 0
    }

    /// A decision about pushes that come in.
    enum Verdict: Equatable {
        /// They are taken; their caller may wait for Apple's answer, or has to be told that they are stored.
        case take(mayWait: Bool)
        /// They are not taken now, and may come again after a number of seconds.
        case refuse(Refusal, retryAfter: Int)

        var isTaken: Bool { if case .take = self { true } else { false } }
    }

    /// The reasons of a refusal.
    enum Refusal: Equatable {
        /// The outbox has reached its limit.
        case outboxIsFull
        /// The disk or the database has not answered since a time in milliseconds since 1970.
        case storeDoesNotAnswer(since: Int64)
        /// More pushes come in than can be stored.
        case tooManyIncoming
    }

    /// Milliseconds after which an outbox that was full is asked again.
    private static let fullTime: Int64 = 1_000

    let limits: Limits
    private var fullUntil: Int64?

    /// A gate that nothing has come to yet.
    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Notes that the outbox has refused pushes because of its limit.
    mutating func outboxIsFull(at now: Int64) {
        fullUntil = now + LoadGate.fullTime
    }

    /// Decides about pushes that come in together, of one app.
    ///
    /// - Parameters:
    ///   - count: The number of pushes.
    ///   - load: The pushes and requests under way.
    ///   - isBatch: Whether they are a part of a batch, which can wait and uses half of the room at most.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The decision.
    func verdict(on count: Int, _ load: Load, isBatch: Bool = false, at now: Int64) -> Verdict {
        // A clock that was set back makes no caller wait.
        if let fullUntil, (1...LoadGate.fullTime).contains(fullUntil - now) {
            return .refuse(.outboxIsFull, retryAfter: 30)
        }
        if let since = load.waitsSince, now - since > limits.commitTime {
            return .refuse(.storeDoesNotAnswer(since: since), retryAfter: 5)
        }
        let room = isBatch ? limits.incoming / 2 : limits.incoming
        guard hasRoom(for: count, load, in: room) else { return .refuse(.tooManyIncoming, retryAfter: 1) }
        let mayWait = load.waiting < limits.waiting && load.waitingOfCaller < limits.waitingPerCaller
        return .take(mayWait: mayWait)
    }

    private func hasRoom(for count: Int, _ load: Load, in room: Int) -> Bool {
        if load.incoming == 0 || load.incoming + count <= room { return true }
        // With all shares in use, that is twice the room at most.
        guard let own = load.incomingOfApp else { return load.incoming < 2 * room }
        return own + count <= room / (load.otherApps + 1)
    }
}
