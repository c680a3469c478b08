internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The connection statistics of a lane, for logs and metrics.
struct LaneNotes {
    /// The number of open connections.
    var connections = 0
    /// The number of GOAWAY frames from Apple, by reason.
    var goAways: [String: Int] = [:]
    /// The number of connections that failed or were lost, by the error.
    var errors: [String: Int] = [:]
    /// The number of times that the circuit breaker stopped sending after many refusals.
    var circuitsOpened = 0
    /// Whether the current outage was logged.
    var isSaidToRest = false
    /// Whether it was logged that Apple does not answer.
    var isSilent = false
}

extension PushRelay {
    /// Handles the events of a lane's client until it is closed.
    func follow(_ client: LaneClient, of lane: Lane) {
        let events = client.client.events()
        Task { [weak self] in
            for await event in events { await self?.noted(event, lane) }
        }
    }

    private func noted(_ event: ClientEvent, _ lane: Lane) {
        let (app, environment) = (JSONValue.string(lane.app), JSONValue.string(lane.environment.rawValue))
        switch event {
        case .connected(let connection):
            notes[lane, default: LaneNotes()].connections += 1
            log.info("connected to Apple", ["app": app, "env": environment, "connection": .whole(connection)])
        case .connectionFailed(let error):
            notes[lane, default: LaneNotes()].errors[error.code.description, default: 0] += 1
            log.warning("no connection to Apple", ["app": app, "env": environment, "error": .string("\(error)")])
        case .goAway(let connection, let reason):
            notes[lane, default: LaneNotes()].goAways[reason?.rawValue ?? "", default: 0] += 1
            log.info(
                "Apple takes no more on a connection",
                [
                    "app": app, "env": environment, "connection": .whole(connection),
                    "reason": reason.map { .string($0.rawValue) },
                ]
            )
        case .disconnected(let connection, let error):
            notes[lane, default: LaneNotes()].connections -= 1
            if error.code != .closed { notes[lane]?.errors[error.code.description, default: 0] += 1 }
            log.info(
                "disconnected from Apple",
                ["app": app, "env": environment, "connection": .whole(connection), "error": .string("\(error)")]
            )
        case .clockSkew(let skew):
            log.error(
                "this machine's clock is wrong: Apple refuses the credentials",
                ["app": app, "env": environment, "ahead-seconds": .whole(skew.components.seconds)]
            )
        case .circuitOpened(let error):
            notes[lane, default: LaneNotes()].circuitsOpened += 1
            log.error("nothing is sent for a while", ["app": app, "env": environment, "error": .string("\(error)")])
        case .retrying:
            break
        }
    }

    /// Logs the beginning or the end of an outage of a lane.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - result: The result of an attempt; nil when time has passed without one.
    func noteRest(of lane: Lane, after result: SendResult? = nil) {
        let problem = problem(of: lane)
        let (app, environment) = (JSONValue.string(lane.app), JSONValue.string(lane.environment.rawValue))
        if notes[lane, default: LaneNotes()].isSilent, problem?.reason != SendResult.noAnswer {
            notes[lane]?.isSilent = false
            if problem == nil { log.info("Apple answers again", ["app": app, "env": environment]) }
        }
        if let problem, problem.nextTry == nil, notes[lane]?.isSilent != true {
            notes[lane]?.isSilent = true
            log.warning(
                "Apple does not answer",
                [
                    "app": app, "env": environment, "since": .string(Timestamp.text(problem.since)),
                    "in-flight": .whole(machine.lanes[lane]?.inFlight ?? 0), "reason": .string(problem.reason),
                ]
            )
        }
        guard let result else { return }
        let outage = machine.lanes[lane]?.outage
        guard (outage != nil) != notes[lane, default: LaneNotes()].isSaidToRest else { return }
        notes[lane, default: LaneNotes()].isSaidToRest = outage != nil
        guard let outage else { return log.info("the lane sends again", ["app": app, "env": environment]) }
        log.warning(
            "the lane rests",
            [
                // Rounded up, as pauses begin with a quarter of a second.
                "app": app, "env": environment, "seconds": .whole((outage.nextTry - now + 999) / 1_000),
                "reason": .string(outage.reason), "because": .string(result.explanation),
            ]
        )
        guard case .refused(status: 403, _, _, _) = result, let client = clients[lane]?.client else { return }
        Task { await client.renewToken() }
    }

    /// Ends and logs the outages of lanes that have no pushes any more, as no attempt can show whether they last.
    func endOutages(without backlog: [Lane: Backlog]) {
        for lane in machine.lanes.keys where (backlog[lane]?.count ?? 0) == 0 {
            guard machine.endOutage(of: lane, at: now) else { continue }
            notes[lane]?.isSaidToRest = false
            notes[lane]?.isSilent = false
            log.info(
                "the lane is not down any more: no push of it waits",
                ["app": .string(lane.app), "env": .string(lane.environment.rawValue)]
            )
        }
    }

    /// Returns the fields of the log line about an attempt to send a push.
    func facts(of push: ClaimedPush, _ result: SendResult, _ time: Duration) -> Logger.Fields {
        let trace = push.push.traceParent.flatMap(TraceContext.init)
        let token: JSONValue? =
            if case .device(let token) = push.push.destination { .string(token.description) } else { nil }
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        return [
            "trace_id": trace.map { .string($0.traceID) }, "span_id": trace.map { .string($0.spanID) },
            "app": .string(push.push.lane.app), "env": .string(push.push.lane.environment.rawValue),
            "apns_id": .string(push.push.id.description), "token": token, "result": .string(result.explanation),
            "attempt": .whole(push.attempts + 1), "dur_ms": .whole(milliseconds),
        ]
    }
}

extension SendResult {
    /// The result as text for the log.
    fileprivate var explanation: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let status, let reason, _, _): "\(status) \(reason?.rawValue ?? "")"
        case .neverSent(let reason, _) where Reason.all.contains { $0.rawValue == reason }:
            "not sent, since Apple refused the pushes before it: \(reason)"
        case .neverSent(let reason, _): "not sent: \(reason)"
        case .unknown: "no answer"
        }
    }
}
