import MartletCore

@testable import Martlet
@testable import MartletTransport

/// A machine with a clock and pushes that go by names.
struct PoolStory {
    var machine: PoolMachine
    var now = MonotonicTime.zero
    private var pushes: [String: PendingPush] = [:]

    init(startsWithOneStream: Bool = false, waitingLimit: Int = 100, connectionLimit: Int = 4) {
        let settings = PoolMachine.Settings(
            startsWithOneStream: startsWithOneStream,
            waitingLimit: waitingLimit,
            connectionLimit: connectionLimit
        )
        machine = PoolMachine(settings, seed: 1)
    }

    /// The push of this name.
    mutating func push(
        _ name: String,
        retry: RetryPolicy = .none,
        timeout: Duration = .seconds(60),
        delay: Duration = .zero
    ) -> PendingPush {
        if let push = pushes[name] { return push }
        let id = APNsID(randomBits: (0, UInt64(pushes.count)))
        let limits = SendLimits(retry: retry, isUrgent: false, timeout: timeout, delay: delay)
        let push = PendingPush(PushDraft(HTTPFields(), body: [], limits: limits), id: id)
        pushes[name] = push
        return push
    }

    mutating func submit(_ names: String..., retry: RetryPolicy = .none, timeout: Duration = .seconds(60)) {
        for name in names { machine.submitted(push(name, retry: retry, timeout: timeout), at: now) }
    }

    /// A first connection that is open and has told its limit.
    mutating func open(_ id: Int = 1, streams: Int = 100) {
        machine.connected(id, at: now)
        machine.allowed(streams: streams, on: id, at: now)
    }

    mutating func accept(_ name: String, on id: Int = 1) {
        let push = push(name)
        machine.answered(push, on: id, refusal: nil, at: now)
    }

    mutating func refuse(_ name: String, _ reason: Reason, on id: Int = 1, retryAfter: Duration? = nil) {
        let push = push(name)
        var error = APNsError(.refused, id: push.id, description: "refused", outcome: .answered)
        error.reason = reason
        error.status = reason.status
        error.retryAfter = retryAfter
        machine.answered(push, on: id, refusal: error, at: now)
    }

    mutating func breakOff(_ name: String, isUnprocessed: Bool = false, on id: Int = 1) {
        let failure = StreamFailure(isUnprocessed: isUnprocessed, cause: WireError(.closedByPeer, "broken"))
        machine.broken(push(name), on: id, failure, at: now)
    }

    mutating func goAway(_ debugData: String = "", on id: Int = 1) {
        let goAway = HTTP2GoAway(lastStreamID: 0, errorCode: .noError, debugData: Array(debugData.utf8))
        machine.wentAway(goAway, on: id, at: now)
    }

    mutating func disconnect(_ kind: WireError.Kind = .closedByPeer, on id: Int = 1) {
        machine.disconnected(id, WireError(kind, "\(kind)"), at: now)
    }

    /// Lets time pass, waking the machine whenever it wants to be woken.
    mutating func wait(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while machine.nextWake <= end {
            now = max(now, machine.nextWake)
            machine.timerFired(at: now)
        }
        now = end
    }

    /// What was ordered since the last look.
    mutating func orders() -> [String] {
        var orders: [PoolMachine.Order] = []
        machine.takeOrders(&orders)
        return orders.compactMap { order in
            switch order {
            case .connect(let id): "connect \(id)"
            case .open(let push, let id): "open \(name(of: push)) on \(id)"
            case .reset(let push, let id): "reset \(name(of: push)) on \(id)"
            case .ping(let id): "ping \(id)"
            case .close(let id, _): "close \(id)"
            case .renewToken: "renew token"
            case .settle(let push):
                push.failure.map { "fail \(name(of: push)): \($0.code), \($0.outcome)" }
                    ?? "accept \(name(of: push))"
            case .report: nil
            }
        }
    }

    private func name(of push: PendingPush) -> String {
        pushes.first { $0.value === push }?.key ?? "?"
    }
}
