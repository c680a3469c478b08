// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The log lines about lanes and their pushes.
extension Logger {
    func clientEvent(_ event: ClientEvent, of lane: Lane) {
        let (app, environment) = lane.logFields
        switch event {
        case .connected(let connection):
            info(.connected, ["app": app, "env": environment, "connection": .whole(connection)])
        case .connectionFailed(let error):
            warning(.connectionFailed, ["app": app, "env": environment, "error": .string("\(error)")])
        case .goAway(let connection, let reason):
            info(
                .goAwayReceived,
                [
                    "app": app, "env": environment, "connection": .whole(connection),
                    "reason": reason.map { .string($0.rawValue) },
                ]
            )
        case .disconnected(let connection, let error):
            info(
                .disconnected,
                ["app": app, "env": environment, "connection": .whole(connection), "error": .string("\(error)")]
            )
        case .clockSkew(let skew):
            error(.clockSkew, ["app": app, "env": environment, "ahead-seconds": .whole(skew.components.seconds)])
        case .circuitOpened, .retrying:
            break
        }
    }

    func attempt(_ push: ClaimedPush, _ result: SendResult, _ time: Duration) {
        debug(.push, Logger.fields(of: push, result, time))
    }

    /// Logs that Apple has refused a push for now, which waits for these milliseconds.
    func postponed(_ push: ClaimedPush, _ result: SendResult, wait: Int64, omitted: Int) {
        let (app, environment) = push.push.lane.logFields
        warning(
            .pushPostponed,
            omitted: omitted,
            [
                "app": app, "env": environment, "apns_id": .string(push.push.id.description),
                "reason": .string(result.retryReason), "attempt": .whole(push.attempts + 1),
                "wait-seconds": .whole((wait + 999) / 1_000),
            ]
        )
    }

    /// Logs that a push was not sent, because its stored content is damaged.
    func damaged(_ push: ClaimedPush) {
        let (app, environment) = push.push.lane.logFields
        error(
            .pushDamaged,
            [
                "app": app, "env": environment, "apns_id": .string(push.push.id.description),
                "error": .string("the stored push is damaged: its content differs from its checksum"),
            ]
        )
    }

    /// Logs the number of pushes of a lane that have expired or were abandoned.
    func lost(_ losses: LossLog.Losses) {
        let (app, environment) = losses.lane.logFields
        warning(
            losses.end == .expired ? .pushesExpired : .pushesAbandoned,
            [
                "app": app, "env": environment, "count": .whole(losses.count), "total": .whole(losses.total),
                "reason": losses.reason.map { .string($0) },
            ]
        )
    }

    /// Logs that pushes are refused because of the limit of the outbox.
    func queueFull(_ period: FullQueue.Period, limit: Int) {
        warning(
            .queueFull,
            [
                "limit": .whole(limit), "since": .string(Timestamp.text(period.since)), "refused": .whole(period.total),
                "caller": period.busiestCaller.map { .string($0) },
            ]
        )
    }

    /// Logs a problem that is over with its duration and its losses.
    func problemOver(_ outage: StatusWatch.PastOutage) {
        let fields: Fields = [
            "app": outage.lane.map { .string($0.app) }, "env": outage.lane.map { .string($0.environment.rawValue) },
            "problem": .string(outage.kind.rawValue), "reason": outage.reason.isEmpty ? nil : .string(outage.reason),
            "since": .string(Timestamp.text(outage.start)), "seconds": .whole((outage.end - outage.start) / 1_000),
            "lost": .whole(outage.losses.expired + outage.losses.abandoned), "refused": .whole(outage.losses.refused),
            "not-stored": outage.notStored > 0 ? .whole(outage.notStored) : nil,
        ]
        if outage.losses.total > 0 { warning(.problemOver, fields) } else { info(.problemOver, fields) }
    }

    private static func fields(of push: ClaimedPush, _ result: SendResult, _ time: Duration) -> Fields {
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

    /// Logs the beginning or the end of an outage, with the result of the attempt that has shown it, if any.
    func outage(
        _ change: OutageLog.Change,
        of lane: Lane,
        inFlight: Int,
        after result: SendResult?,
        at now: Int64
    ) {
        let (app, environment) = lane.logFields
        switch change {
        case .noAnswer(let problem):
            warning(
                .noAnswer,
                [
                    "app": app, "env": environment, "since": .string(Timestamp.text(problem.since)),
                    "in-flight": .whole(inFlight), "reason": .string(problem.reason),
                ]
            )
        case .answersAgain: info(.answersAgain, ["app": app, "env": environment])
        case .down(let outage):
            warning(
                .laneDown,
                [
                    // Rounded up, as pauses begin with a quarter of a second.
                    "app": app, "env": environment, "seconds": .whole((outage.nextTry - now + 999) / 1_000),
                    "reason": .string(outage.reason), "because": result.map { .string($0.explanation) },
                ]
            )
        case .recovered(let since):
            let seconds = since.map { max(0, now - $0) / 1_000 }
            info(.laneRecovered, ["app": app, "env": environment, "seconds": .whole(seconds)])
        }
    }

    /// Logs that an operator has paused or resumed a lane.
    func laneChange(_ change: LaneControl.Change) {
        switch change {
        case .paused(let pause):
            let (app, environment) = pause.lane.logFields
            warning(
                .lanePaused,
                [
                    "app": app, "env": environment, "since": .string(Timestamp.text(pause.since)),
                    "caller": .string(pause.caller),
                ]
            )
        case .resumed(let lane):
            let (app, environment) = lane.logFields
            info(.laneResumed, ["app": app, "env": environment])
        }
    }
}

extension Lane {
    /// The values of the fields `app` and `env`.
    fileprivate var logFields: (app: JSONValue, environment: JSONValue) {
        (.string(app), .string(environment.rawValue))
    }
}

extension SendResult {
    /// The result as text for the log.
    fileprivate var explanation: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let status, let reason, _, _): "\(status) \(reason?.rawValue ?? "")"
        case .neverSent(let reason, _): "not sent: \(reason)"
        case .unknown: "no answer"
        case .lost: "no answer, because the connection was lost"
        }
    }
}
