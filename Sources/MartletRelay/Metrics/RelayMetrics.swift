// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The metrics of a relay for a caller.
struct RelayMetrics {
    let snapshot: RelaySnapshot
    let apps: Set<String>
    /// The backlog of each lane that has one; nil while the outbox cannot be read.
    let backlog: [Lane: Backlog]?
    let measures: OutboxMeasures
    /// The conditions of the clients of the apps' lanes.
    let conditions: [(lane: Lane, teamID: String, ClientCondition)]

    private var lanes: [(lane: Lane, snapshot: Dispatcher.LaneSnapshot)] { snapshot.dispatcher.lanes(of: apps) }

    var sheet: MetricSheet {
        var sheet = MetricSheet()
        addIntake(to: &sheet)
        addDelivery(to: &sheet)
        addTimes(to: &sheet)
        addLanes(to: &sheet)
        addConnections(to: &sheet)
        addConditions(to: &sheet)
        sheet.histogram("outbox_commit_seconds", "Duration of commits, including the wait for the disk.")
        sheet.add([:], measures.commitTimes)
        sheet.histogram("outbox_commit_batch_size", "Pushes in one commit.")
        sheet.add([:], measures.commitSizes)
        sheet.gauge("outbox_writable", "Whether pushes can be stored.", snapshot.store.problem == nil ? 1 : 0)
        if let space = snapshot.context.configuration.data.freeSpace {
            sheet.gauge("disk_free_bytes", "Free space on the disk of the outbox.", Int(clamping: space))
        }
        addRequests(to: &sheet)
        addCallers(to: &sheet)
        addConfiguration(to: &sheet)
        addWebhooks(to: &sheet)
        addJobs(to: &sheet)
        addSurfaces(to: &sheet)
        addTelemetry(to: &sheet)
        sheet.histogram("loop_lag_seconds", "Delay of the event loop's timers.")
        sheet.add([:], snapshot.loopLag)
        let unclean = snapshot.observations.earlierEnd.map { $0.isInOrder ? 0 : 1 } ?? 0
        sheet.gauge("ended_uncleanly", "Whether the process before this one ended without a shutdown.", unclean)
        sheet.gauge(
            "fleet_relays",
            "Relays that share the database and run; 0 without a database.",
            snapshot.fleet.nodes.count { !FleetView.isMissing($0) }
        )
        sheet.gauge(
            "fleet_missing_relays",
            "Relays that have stopped without a shutdown within the last hour and were not started again.",
            snapshot.fleet.missing(at: snapshot.now).count
        )
        sheet.addProcess(startedAt: snapshot.context.startedAt)
        return sheet
    }

    private var delivery: DispatchCounts { snapshot.dispatcher.counts }

    private func addIntake(to sheet: inout MetricSheet) {
        let intake = snapshot.intake.counts
        let families = [
            ("enqueued_total", "Pushes that were accepted.", intake.accepted),
            ("deduplicated_total", "Pushes that were submitted again with the same identifier.", intake.duplicates),
            ("conflicts_total", "Pushes with the identifier of another.", intake.conflicts),
            ("suppressed_total", "Pushes to tokens that Apple has reported as unregistered.", intake.suppressed),
            ("unregistered_total", "Tokens that Apple has reported as unregistered.", delivery.unregistered),
        ]
        for (name, help, values) in families {
            sheet.counter(name, help)
            for app in apps.sorted() { sheet.add(["app": app], values[app, default: 0]) }
        }
        sheet.counter(
            "shed_total",
            "Pushes that were refused because of overload or the limit of the outbox.",
            intake.shed
        )
        let server = snapshot.server.counts
        sheet.counter("refused_callers_total", "Clients whose credentials were rejected.", server.rejectedCallers)
        sheet.counter("failed_handshakes_total", "Clients whose TLS handshake failed.", server.failedHandshakes)
        addCredentials(to: &sheet)
        sheet.gauge("client_connections", "Connections of APNs clients.", snapshot.server.connections)
    }

    private func addDelivery(to sheet: inout MetricSheet) {
        sheet.counter("sent_total", "Pushes that were sent, by Apple's answer; status 0 without one.")
        for (answer, count) in delivery.answers where apps.contains(answer.lane.app) {
            sheet.add(
                [
                    "app": answer.lane.app, "env": answer.lane.environment.rawValue, "push_type": answer.pushType,
                    "status": String(answer.status), "reason": answer.reason,
                ],
                count
            )
        }
        sheet.counter("outcomes_total", "Outcomes of pushes.")
        for (lane, _) in lanes {
            for state in Outcome.State.allCases {
                sheet.add(lane.labels(and: state.rawValue, as: "state"), delivery.outcomes[lane]?[state] ?? 0)
            }
        }
        for (name, help, values) in [
            ("unsent_tries_total", "Attempts that did not reach Apple.", delivery.unsent),
            ("retries_total", "Attempts after which the push is sent again.", delivery.retries),
            ("dead_letter_total", "Pushes that were abandoned.", delivery.deadLetters),
        ] {
            sheet.counter(name, help)
            for (cause, count) in values where apps.contains(cause.lane.app) {
                sheet.add(cause.lane.labels(and: cause.reason, as: "reason"), count)
            }
        }
        sheet.counter("expired_total", "Pushes that expired before Apple accepted them.")
        for (lane, _) in lanes { sheet.add(lane.labels, delivery.outcomes[lane]?[.expired] ?? 0) }
    }

    private func addTimes(to sheet: inout MetricSheet) {
        sheet.histogram("send_duration_seconds", "Time until Apple's answer.")
        for (lane, times) in delivery.answerTimes where apps.contains(lane.app) { sheet.add(lane.labels, times) }
        sheet.histogram("end_to_end_seconds", "Time from acceptance to Apple's final answer.")
        for (kind, times) in delivery.deliveryTimes where apps.contains(kind.app) {
            sheet.add(["app": kind.app, "priority": kind.urgency.priority], times)
        }
    }

    private func addLanes(to sheet: inout MetricSheet) {
        let now = snapshot.now
        sheet.gauge("outbox_jobs", "Pushes that have not ended.")
        for (lane, current) in lanes {
            if let backlog {
                let waiting = max(0, (backlog[lane]?.count ?? 0) - snapshot.counts(of: lane).inFlight)
                sheet.add(lane.labels(and: "waiting", as: "state"), waiting)
            }
            sheet.add(lane.labels(and: "in_flight", as: "state"), current.inFlight)
        }
        sheet.gauge("outbox_blocked", "Waiting pushes that wait behind others with their order key.")
        if let backlog { for (lane, _) in lanes { sheet.add(lane.labels, backlog[lane]?.blocked ?? 0) } }
        sheet.gauge("outbox_oldest_ready_seconds", RelaySnapshot.oldestHelp)
        if let backlog {
            for (lane, _) in lanes {
                sheet.add(lane.labels, backlog[lane]?.oldest.map { Double(max(0, now - $0)) / 1_000 } ?? 0)
            }
        }
        sheet.gauge(
            "outbox_retrying",
            "Pushes that Apple refused for now or did not answer, and that are sent again."
        )
        if let backlog { for (lane, _) in lanes { sheet.add(lane.labels, backlog[lane]?.retrying ?? 0) } }
        sheet.gauge(
            "outbox_oldest_retry_seconds",
            "Time since the oldest push that is sent again was accepted; 0 without one."
        )
        if let backlog {
            for (lane, _) in lanes {
                sheet.add(lane.labels, backlog[lane]?.oldestRetry.map { Double(max(0, now - $0)) / 1_000 } ?? 0)
            }
        }
        sheet.gauge("streams_in_flight", "Pushes that were sent and not answered yet.")
        for (lane, current) in lanes { sheet.add(lane.labels, current.inFlight) }
        sheet.gauge(
            "lane_paused",
            "Whether a lane is down because Apple cannot be reached, does not answer or refuses its key."
        )
        for (lane, current) in lanes { sheet.add(lane.labels, problem(of: lane, current) == nil ? 0 : 1) }
        sheet.gauge(
            "lane_down_since_timestamp_seconds",
            "The time since which a lane is down, in seconds since 1970; absent for a lane that sends or has no pushes."
        )
        for (lane, current) in lanes {
            guard let problem = problem(of: lane, current) else { continue }
            sheet.add(lane.labels(and: problem.reason, as: "reason"), Double(problem.since) / 1_000)
        }
        sheet.gauge("lane_paused_manually", "Whether an operator has paused a lane.")
        for (lane, current) in lanes { sheet.add(lane.labels, current.pause == nil ? 0 : 1) }
        sheet.gauge("circuit_open", "Whether a lane is down because Apple refused many device tokens in a row.")
        for (lane, current) in lanes {
            let reason = problem(of: lane, current)?.reason
            sheet.add(lane.labels, reason == APNsReason.badDeviceToken.rawValue ? 1 : 0)
        }
    }

    /// Returns the problem of a lane; nil for one without pushes, which needs no alert.
    private func problem(of lane: Lane, _ current: Dispatcher.LaneSnapshot) -> LaneProblem? {
        let isEmpty = current.inFlight == 0 && backlog.map { ($0[lane]?.count ?? 0) == 0 } ?? false
        return isEmpty ? nil : current.problem
    }

    private func addConnections(to sheet: inout MetricSheet) {
        sheet.gauge("connections", "Connections to Apple.")
        for (lane, current) in lanes { sheet.add(lane.labels, current.connections.count) }
        sheet.counter("goaway_total", "Connections on which Apple has announced to accept no more requests.")
        for (lane, current) in lanes {
            for (reason, count) in current.connections.goAways {
                sheet.add(lane.labels(and: reason, as: "reason"), count)
            }
        }
        sheet.counter("connection_errors_total", "Connections that failed or were lost.")
        for (lane, current) in lanes {
            for (kind, count) in current.connections.errors { sheet.add(lane.labels(and: kind, as: "kind"), count) }
        }
    }

    private func addConditions(to sheet: inout MetricSheet) {
        sheet.gauge("streams_limit", "Maximum number of concurrent pushes that Apple allows.")
        for (lane, _, condition) in conditions { sheet.add(lane.labels, condition.streamLimit) }
        sheet.gauge("provider_token_age_seconds", "Age of the provider token that was used last.")
        for (lane, teamID, condition) in conditions {
            guard let issuedAt = condition.tokenIssuedAt else { continue }
            // A clock that was set back must not make the age negative.
            let age = max(0, snapshot.now / 1_000 - issuedAt.secondsSince1970)
            sheet.add(lane.labels(and: teamID, as: "team"), age)
        }
        sheet.counter("provider_tokens_total", "Provider tokens that were used.")
        for (lane, teamID, condition) in conditions {
            sheet.add(lane.labels(and: teamID, as: "team"), condition.tokensUsed)
        }
    }

    private func addRequests(to sheet: inout MetricSheet) {
        sheet.family("http_server_request_duration_seconds", .histogram, "Time until the answer to a caller.")
        for (request, times) in snapshot.server.counts.requests {
            sheet.add(
                [
                    "http_route": request.route, "http_request_method": request.method,
                    "http_response_status_code": String(request.status),
                ],
                times
            )
        }
    }
}

/// Metrics of the relay, whose names begin with `martlet_relay_`; a metric with labels gets its values afterwards.
extension MetricSheet {
    mutating func counter(_ name: String, _ help: String, _ value: Int? = nil) { relay(name, .counter, help, value) }

    mutating func gauge(_ name: String, _ help: String, _ value: Int? = nil) { relay(name, .gauge, help, value) }

    mutating func histogram(_ name: String, _ help: String) { relay(name, .histogram, help, nil) }

    private mutating func relay(_ name: String, _ kind: Kind, _ help: String, _ value: Int?) {
        family("martlet_relay_" + name, kind, help)
        if let value { add([:], value) }
    }
}

extension Lane {
    fileprivate var labels: MetricSheet.Labels { ["app": app, "env": environment.rawValue] }

    fileprivate func labels(and value: String, as name: String) -> MetricSheet.Labels {
        ["app": app, "env": environment.rawValue, name: value]
    }
}

extension Urgency {
    /// The value of `apns-priority`, or `job` for the pushes of jobs.
    fileprivate var priority: String {
        switch self {
        case .immediate: "10"
        case .powerAware: "5"
        case .powerFirst: "1"
        case .job: "job"
        }
    }
}
