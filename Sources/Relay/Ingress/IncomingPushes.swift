internal import APNs
internal import Outbox

/// Pushes that came in together, until the outbox has answered for them.
struct IncomingPushes {
    /// Who is told what the outbox says: an answer for each push of theirs.
    typealias Completion = (Result<ArraySlice<Acceptance>, OutboxError>) -> Void

    /// Pushes of one caller.
    struct Group {
        var count: Int
        var completion: Completion
    }

    private(set) var pushes: [OutboxPush] = []
    private(set) var groups: [Group] = []
    /// Pushes that the outbox has been given and not answered for.
    private var underWay = 0
    /// When each commit was begun that has not been answered, the first one first.
    private var begun: [Int64] = []

    /// Pushes that have not been answered for.
    var count: Int { pushes.count + underWay }
    /// When the commit was begun that has been waited for longest; nil when the outbox owes no answer.
    var waitsSince: Int64? { begun.first }

    mutating func add(_ more: [OutboxPush], _ completion: @escaping Completion) {
        pushes += more
        groups.append(Group(count: more.count, completion: completion))
    }

    /// Everything that has come in since the last time.
    mutating func take(at now: Int64) -> (pushes: [OutboxPush], groups: [Group]) {
        defer {
            underWay += pushes.count
            begun.append(now)
            pushes = []
            groups = []
        }
        return (pushes, groups)
    }

    /// The outbox has answered for what was taken first.
    mutating func answered(_ count: Int) {
        underWay -= count
        begun.removeFirst()
    }
}
