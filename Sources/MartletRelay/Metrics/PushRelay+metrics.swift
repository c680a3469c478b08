internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Metrics of the relay.
extension PushRelay {
    /// Returns the metrics of some apps, and those of the relay as a whole.
    func metrics(of apps: Set<String>) async -> MetricSheet {
        let backlog = await backlog()
        let measures = await outbox.measures
        let conditions = await conditions(of: lanes(of: apps))
        var sheet = MetricSheet()
        addIntake(to: &sheet, apps)
        addDelivery(to: &sheet, apps)
        addTimes(to: &sheet, apps)
        addLanes(to: &sheet, lanes(of: apps), backlog)
        addConnections(to: &sheet, lanes(of: apps))
        addConditions(to: &sheet, conditions)
        sheet.family(
            "martlet_relay_outbox_commit_seconds",
            .histogram,
            "How long commits took, the wait for the disk with them."
        )
        sheet.add([:], measures.commitTimes)
        sheet.family("martlet_relay_outbox_commit_batch_size", .histogram, "Pushes in one commit.")
        sheet.add([:], measures.commitSizes)
        sheet.single(
            "martlet_relay_outbox_writable",
            .gauge,
            "Whether pushes can be kept.",
            store.problem == nil ? 1 : 0
        )
        addRequests(to: &sheet)
        addCallers(to: &sheet, apps)
        addConfiguration(to: &sheet)
        addWebhooks(to: &sheet, apps)
        addTelemetry(to: &sheet)
        sheet.family("martlet_relay_loop_lag_seconds", .histogram, "How late the relay's loop was for a timer.")
        sheet.add([:], counts.loopLag)
        addProcess(to: &sheet)
        return sheet
    }

    private func addIntake(to sheet: inout MetricSheet, _ apps: Set<String>) {
        let families = [
            ("enqueued_total", "Pushes that were accepted.", counts.accepted),
            ("deduplicated_total", "Pushes that were handed in again with the same identifier.", counts.duplicates),
            ("conflicts_total", "Pushes with the identifier of another.", counts.conflicts),
            ("suppressed_total", "Pushes for tokens that are known to be dead.", counts.suppressed),
            ("unregistered_total", "Tokens that Apple has called dead.", counts.unregistered),
        ]
        for (name, help, values) in families {
            sheet.family("martlet_relay_" + name, .counter, help)
            for app in apps.sorted() { sheet.add(["app": app], values[app, default: 0]) }
        }
        sheet.single("martlet_relay_shed_total", .counter, "Pushes that were not taken for want of room.", counts.shed)
        sheet.single(
            "martlet_relay_refused_callers_total",
            .counter,
            "Callers that were refused.",
            counts.refusedCallers
        )
        sheet.single(
            "martlet_relay_failed_handshakes_total",
            .counter,
            "Clients whose TLS handshake failed.",
            counts.failedHandshakes
        )
        addCredentials(to: &sheet, apps)
        sheet.single(
            "martlet_relay_client_connections",
            .gauge,
            "Connections of APNs clients.",
            connections.count
        )
    }

    private func addDelivery(to sheet: inout MetricSheet, _ apps: Set<String>) {
        sheet.family(
            "martlet_relay_sent_total",
            .counter,
            "Pushes that were sent, by Apple's answer; status 0 without one."
        )
        for (answer, count) in counts.answers where apps.contains(answer.lane.app) {
            sheet.add(
                [
                    "app": answer.lane.app, "env": answer.lane.environment.rawValue, "push_type": answer.pushType,
                    "status": String(answer.status), "reason": answer.reason,
                ],
                count
            )
        }
        sheet.family("martlet_relay_outcomes_total", .counter, "How pushes ended.")
        for lane in lanes(of: apps) {
            for state in Outcome.State.allCases {
                sheet.add(lane.labels(and: state.rawValue, as: "state"), counts.outcomes[lane]?[state] ?? 0)
            }
        }
        for (name, help, values) in [
            ("unsent_tries_total", "Tries that did not reach Apple.", counts.unsent),
            ("retries_total", "Tries after which there was to be another.", counts.retries),
            ("dead_letter_total", "Pushes that were given up.", counts.deadLetters),
        ] {
            sheet.family("martlet_relay_" + name, .counter, help)
            for (cause, count) in values where apps.contains(cause.lane.app) {
                sheet.add(cause.lane.labels(and: cause.reason, as: "reason"), count)
            }
        }
        sheet.family(
            "martlet_relay_expired_total",
            .counter,
            "Pushes that were of no use any more before Apple took them."
        )
        for lane in lanes(of: apps) { sheet.add(lane.labels, counts.outcomes[lane]?[.expired] ?? 0) }
    }

    private func addTimes(to sheet: inout MetricSheet, _ apps: Set<String>) {
        sheet.family("martlet_relay_send_duration_seconds", .histogram, "How long Apple took to answer.")
        for (lane, times) in counts.answerTimes where apps.contains(lane.app) { sheet.add(lane.labels, times) }
        sheet.family("martlet_relay_end_to_end_seconds", .histogram, "From acceptance to Apple's last word.")
        for (kind, times) in counts.deliveryTimes where apps.contains(kind.app) {
            sheet.add(["app": kind.app, "priority": kind.urgency.priority], times)
        }
    }

    private func addLanes(to sheet: inout MetricSheet, _ lanes: [Lane], _ backlog: [Lane: Backlog]?) {
        sheet.family("martlet_relay_outbox_jobs", .gauge, "Pushes that have not ended.")
        for lane in lanes {
            let inFlight = machine.lanes[lane]?.inFlight ?? 0
            if let backlog {
                let waiting = max(0, (backlog[lane]?.count ?? 0) - facts(of: lane).inFlight)
                sheet.add(lane.labels(and: "waiting", as: "state"), waiting)
            }
            sheet.add(lane.labels(and: "in_flight", as: "state"), inFlight)
        }
        sheet.family(
            "martlet_relay_outbox_oldest_ready_seconds",
            .gauge,
            "How long the push has been due that waits longest."
        )
        if let backlog {
            for lane in lanes {
                sheet.add(lane.labels, backlog[lane]?.oldest.map { Double(max(0, now - $0)) / 1_000 } ?? 0)
            }
        }
        sheet.family("martlet_relay_streams_in_flight", .gauge, "Pushes that were sent and not answered yet.")
        for lane in lanes { sheet.add(lane.labels, machine.lanes[lane]?.inFlight ?? 0) }
        sheet.family(
            "martlet_relay_lane_paused",
            .gauge,
            "Whether a lane is down, since Apple cannot be reached, does not answer or refuses its key."
        )
        for lane in lanes { sheet.add(lane.labels, problem(of: lane) == nil ? 0 : 1) }
        sheet.family(
            "martlet_relay_lane_down_since_timestamp_seconds",
            .gauge,
            "The time since which a lane is down, in seconds since 1970; absent for a lane that sends."
        )
        for lane in lanes {
            guard let problem = problem(of: lane) else { continue }
            sheet.add(lane.labels(and: problem.reason, as: "reason"), Double(problem.since) / 1_000)
        }
        sheet.family("martlet_relay_lane_paused_manually", .gauge, "Whether an operator has paused a lane.")
        for lane in lanes { sheet.add(lane.labels, laneControl.pause(of: lane) == nil ? 0 : 1) }
    }

    private func addConnections(to sheet: inout MetricSheet, _ lanes: [Lane]) {
        sheet.family("martlet_relay_connections", .gauge, "Connections to Apple.")
        for lane in lanes { sheet.add(lane.labels, notes[lane]?.connections ?? 0) }
        sheet.family("martlet_relay_goaway_total", .counter, "Connections on which Apple took no more.")
        for lane in lanes {
            for (reason, count) in notes[lane]?.goAways ?? [:] {
                sheet.add(lane.labels(and: reason, as: "reason"), count)
            }
        }
        sheet.family("martlet_relay_connection_errors_total", .counter, "Connections that failed or broke.")
        for lane in lanes {
            for (kind, count) in notes[lane]?.errors ?? [:] { sheet.add(lane.labels(and: kind, as: "kind"), count) }
        }
        sheet.family(
            "martlet_relay_circuit_opened_total",
            .counter,
            "Times that nothing was sent, since so much was refused."
        )
        for lane in lanes { sheet.add(lane.labels, notes[lane]?.circuitsOpened ?? 0) }
    }

    /// Returns the conditions of the lanes' clients.
    private func conditions(of lanes: [Lane]) async -> [(lane: Lane, client: LaneClient, ClientCondition)] {
        var conditions: [(lane: Lane, client: LaneClient, ClientCondition)] = []
        for lane in lanes {
            guard let client = clients[lane] else { continue }
            let condition = await client.client.condition
            conditions.append((lane, client, condition))
        }
        return conditions
    }

    private func addConditions(
        to sheet: inout MetricSheet,
        _ conditions: [(lane: Lane, client: LaneClient, ClientCondition)]
    ) {
        sheet.family("martlet_relay_streams_limit", .gauge, "Pushes that Apple lets be on their way at once.")
        for (lane, _, condition) in conditions { sheet.add(lane.labels, condition.streamLimit) }
        sheet.family("martlet_relay_circuit_open", .gauge, "Whether nothing is sent, since so much was refused.")
        for (lane, _, condition) in conditions { sheet.add(lane.labels, condition.isCircuitOpen ? 1 : 0) }
        sheet.family(
            "martlet_relay_provider_token_age_seconds",
            .gauge,
            "Age of the provider token that was used last."
        )
        for (lane, client, condition) in conditions {
            guard let issuedAt = condition.tokenIssuedAt else { continue }
            sheet.add(lane.labels(and: client.teamID, as: "team"), now / 1_000 - issuedAt.secondsSince1970)
        }
        sheet.family("martlet_relay_provider_tokens_total", .counter, "Provider tokens that were used.")
        for (lane, client, condition) in conditions {
            sheet.add(lane.labels(and: client.teamID, as: "team"), condition.tokensUsed)
        }
    }

    private func addRequests(to sheet: inout MetricSheet) {
        sheet.family(
            "http_server_request_duration_seconds",
            .histogram,
            "How long callers waited for their answers.",
            openTelemetry: "http.server.request.duration"
        )
        for (request, times) in counts.requests {
            sheet.add(
                [
                    "http.route": request.route, "http.request.method": request.method,
                    "http.response.status_code": String(request.status),
                ],
                times
            )
        }
    }
}

extension Lane {
    fileprivate var labels: MetricSheet.Labels { ["app": app, "env": environment.rawValue] }

    fileprivate func labels(and value: String, as name: String) -> MetricSheet.Labels {
        ["app": app, "env": environment.rawValue, name: value]
    }
}

extension Urgency {
    /// The value of `apns-priority`.
    fileprivate var priority: String {
        switch self {
        case .immediate: "10"
        case .powerAware: "5"
        case .powerFirst: "1"
        }
    }
}
