internal import APNs
internal import Outbox

/// Pushes that came in together, until the outbox has answered for them.
struct IncomingPushes {
    /// Who is told what the outbox says.
    typealias Completion = (Result<Acceptance, OutboxError>) -> Void

    private(set) var pushes: [OutboxPush] = []
    private(set) var completions: [Completion] = []
    /// Pushes that the outbox has been given and not answered for.
    var underWay = 0

    /// Pushes that have not been answered for.
    var count: Int { pushes.count + underWay }

    mutating func add(_ push: OutboxPush, _ completion: @escaping Completion) {
        pushes.append(push)
        completions.append(completion)
    }

    /// Everything that has come in since the last time.
    mutating func take() -> (pushes: [OutboxPush], completions: [Completion]) {
        defer {
            underWay += pushes.count
            pushes = []
            completions = []
        }
        return (pushes, completions)
    }
}
