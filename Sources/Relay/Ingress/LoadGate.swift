/// Decides what is taken when more comes in than can be kept: a value without I/O.
///
/// What is refused is refused before it is looked at, so that this costs little, and told when to come again. What
/// has been taken is kept, and waits as long as it has to.
struct LoadGate {
    /// Bounds of what may be under way.
    struct Limits: Sendable {
        /// Pushes that wait for the disk.
        var incoming = 20_000
        /// How long the disk may take before no more are handed to it, in milliseconds.
        var commitTime: Int64 = 2_000
        /// Callers that wait for Apple's answer; others are told at once that their push is kept.
        var waiting = 50_000
    }

    /// What is under way.
    struct Load {
        /// Pushes that wait for the disk.
        var incoming: Int
        /// Since when the disk has been at those that it was given first; nil when it has none.
        var waitsSince: Int64?
        /// Callers that wait for Apple's answer.
        var waiting: Int
    }

    /// What is to be done with pushes that come in.
    enum Verdict: Equatable {
        /// They are taken; their caller may wait for Apple's answer, or has to be told that they are kept.
        case take(mayWait: Bool)
        /// They are not taken now, and may come again after so many seconds.
        case refuse(retryAfter: Int)

        var isTaken: Bool { if case .take = self { true } else { false } }
    }

    /// Milliseconds after which an outbox that was full is asked again.
    private static let fullTime: Int64 = 1_000

    let limits: Limits
    private var fullUntil: Int64?

    /// A gate that nothing has come to yet.
    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The outbox has taken no more, since so many pushes wait in it.
    mutating func outboxIsFull(at now: Int64) {
        fullUntil = now + LoadGate.fullTime
    }

    /// What is to be done with pushes that come in together.
    func verdict(on count: Int, _ load: Load, at now: Int64) -> Verdict {
        // A clock that was set back makes nobody wait.
        if let fullUntil, (1...LoadGate.fullTime).contains(fullUntil - now) { return .refuse(retryAfter: 30) }
        if let since = load.waitsSince, now - since > limits.commitTime { return .refuse(retryAfter: 5) }
        // What is more than all that may wait is taken when nothing else does.
        guard load.incoming == 0 || load.incoming + count <= limits.incoming else { return .refuse(retryAfter: 1) }
        return .take(mayWait: load.waiting < limits.waiting)
    }
}
