internal import APNs
internal import Outbox

/// The relay's numbers, for Prometheus.
extension PushRelay {
    /// The numbers of some apps, and those of the relay as a whole.
    func metrics(of apps: Set<String>) async -> String {
        let backlog = await backlog()
        let measures = await outbox.measures
        var text = Exposition(prefix: "martlet_relay_")
        addIntake(to: &text, apps)
        addDelivery(to: &text, apps)
        addTimes(to: &text, apps)
        addLanes(to: &text, lanes(of: apps), backlog)
        addConnections(to: &text, lanes(of: apps))
        text.family("outbox_commit_seconds", .histogram, "How long commits took, the wait for the disk with them.")
        text.add("outbox_commit_seconds", [:], measures.commitTimes)
        text.family("outbox_commit_batch_size", .histogram, "Pushes in one commit.")
        text.add("outbox_commit_batch_size", [:], measures.commitSizes)
        text.single("outbox_writable", .gauge, "Whether pushes can be kept.", store.problem == nil ? 1 : 0)
        text.family("loop_lag_seconds", .histogram, "How late the relay's loop was for a timer.")
        text.add("loop_lag_seconds", [:], counts.loopLag)
        text.family("build_info", .gauge, "Which Martlet this is.")
        text.add("build_info", ["version": MartletVersion.current], 1)
        return text.text + processMetrics
    }

    private func addIntake(to text: inout Exposition, _ apps: Set<String>) {
        let families = [
            ("enqueued_total", "Pushes that were accepted.", counts.accepted),
            ("deduplicated_total", "Pushes that were handed in again with the same identifier.", counts.duplicates),
            ("conflicts_total", "Pushes with the identifier of another.", counts.conflicts),
            ("suppressed_total", "Pushes for tokens that are known to be dead.", counts.suppressed),
            ("unregistered_total", "Tokens that Apple has called dead.", counts.unregistered),
        ]
        for (name, help, values) in families {
            text.family(name, .counter, help)
            for app in apps.sorted() { text.add(name, ["app": app], values[app, default: 0]) }
        }
        text.single("shed_total", .counter, "Pushes that were not taken for want of room.", counts.shed)
        text.single("refused_callers_total", .counter, "Callers that were refused.", counts.refusedCallers)
        text.single("client_connections", .gauge, "Connections of APNs clients.", connections.count)
    }

    private func addDelivery(to text: inout Exposition, _ apps: Set<String>) {
        text.family("sent_total", .counter, "Tries to send, by Apple's answer; status 0 without one.")
        for (answer, count) in counts.answers where apps.contains(answer.lane.app) {
            text.add(
                "sent_total",
                [
                    "app": answer.lane.app, "env": answer.lane.environment.rawValue, "push_type": answer.pushType,
                    "status": String(answer.status), "reason": answer.reason,
                ],
                count
            )
        }
        text.family("outcomes_total", .counter, "How pushes ended.")
        for lane in lanes(of: apps) {
            for state in Outcome.State.allCases {
                let count = counts.outcomes[lane]?[state] ?? 0
                text.add("outcomes_total", lane.labels(and: state.rawValue, as: "state"), count)
            }
        }
        for (name, help, values) in [
            ("retries_total", "Tries after which there was to be another.", counts.retries),
            ("dead_letter_total", "Pushes that were given up.", counts.deadLetters),
        ] {
            text.family(name, .counter, help)
            for (cause, count) in values where apps.contains(cause.lane.app) {
                text.add(name, cause.lane.labels(and: cause.reason, as: "reason"), count)
            }
        }
        text.family("expired_total", .counter, "Pushes that were of no use any more before Apple took them.")
        for lane in lanes(of: apps) {
            text.add("expired_total", lane.labels, counts.outcomes[lane]?[.expired] ?? 0)
        }
    }

    private func addTimes(to text: inout Exposition, _ apps: Set<String>) {
        text.family("send_duration_seconds", .histogram, "How long Apple took to answer.")
        for (lane, times) in counts.answerTimes where apps.contains(lane.app) {
            text.add("send_duration_seconds", lane.labels, times)
        }
        text.family("end_to_end_seconds", .histogram, "From acceptance to Apple's last word.")
        for (kind, times) in counts.deliveryTimes where apps.contains(kind.app) {
            text.add("end_to_end_seconds", ["app": kind.app, "priority": kind.urgency.priority], times)
        }
    }

    private func addLanes(to text: inout Exposition, _ lanes: [Lane], _ backlog: [Lane: Backlog]) {
        text.family("outbox_jobs", .gauge, "Pushes that have not ended.")
        for lane in lanes {
            let inFlight = machine.lanes[lane]?.inFlight ?? 0
            let waiting = max(0, (backlog[lane]?.count ?? 0) - inFlight)
            text.add("outbox_jobs", lane.labels(and: "waiting", as: "state"), waiting)
            text.add("outbox_jobs", lane.labels(and: "in_flight", as: "state"), inFlight)
        }
        text.family("outbox_oldest_ready_seconds", .gauge, "How long the push has been due that waits longest.")
        for lane in lanes {
            let age = backlog[lane]?.oldest.map { Double(max(0, now - $0)) / 1_000 } ?? 0
            text.add("outbox_oldest_ready_seconds", lane.labels, age)
        }
        text.family("streams_in_flight", .gauge, "Pushes that were sent and not answered yet.")
        for lane in lanes { text.add("streams_in_flight", lane.labels, machine.lanes[lane]?.inFlight ?? 0) }
        text.family("lane_paused", .gauge, "Whether a lane rests, since Apple cannot be reached or refuses its key.")
        for lane in lanes { text.add("lane_paused", lane.labels, machine.lanes[lane]?.pausedUntil == nil ? 0 : 1) }
    }

    private func addConnections(to text: inout Exposition, _ lanes: [Lane]) {
        text.family("connections", .gauge, "Connections to Apple.")
        for lane in lanes { text.add("connections", lane.labels, notes[lane]?.connections ?? 0) }
        text.family("goaway_total", .counter, "Connections on which Apple took no more.")
        for lane in lanes {
            for (reason, count) in notes[lane]?.goAways ?? [:] {
                text.add("goaway_total", lane.labels(and: reason, as: "reason"), count)
            }
        }
        text.family("connection_errors_total", .counter, "Connections that failed or broke.")
        for lane in lanes {
            for (kind, count) in notes[lane]?.errors ?? [:] {
                text.add("connection_errors_total", lane.labels(and: kind, as: "kind"), count)
            }
        }
        text.family("circuit_opened_total", .counter, "Times that nothing was sent, since so much was refused.")
        for lane in lanes { text.add("circuit_opened_total", lane.labels, notes[lane]?.circuitsOpened ?? 0) }
    }

    private var processMetrics: String {
        var text = Exposition(prefix: "process_")
        text.family("start_time_seconds", .gauge, "When the relay was started, in seconds since 1970.")
        text.add("start_time_seconds", [:], Double(startedAt) / 1_000)
        guard let facts = ProcessFacts() else { return text.text }
        text.family("cpu_seconds_total", .counter, "Time of processors that was used.")
        text.add("cpu_seconds_total", [:], facts.processorSeconds)
        text.single("resident_memory_bytes", .gauge, "Memory in use.", facts.residentBytes)
        text.single("virtual_memory_bytes", .gauge, "Memory that is mapped.", facts.virtualBytes)
        text.single("open_fds", .gauge, "Open descriptors.", facts.openDescriptors)
        text.single("threads", .gauge, "Threads.", facts.threads)
        return text.text
    }
}

extension Lane {
    fileprivate var labels: Exposition.Labels { ["app": app, "env": environment.rawValue] }

    fileprivate func labels(and value: String, as name: String) -> Exposition.Labels {
        ["app": app, "env": environment.rawValue, name: value]
    }
}

extension Urgency {
    /// `apns-priority`.
    fileprivate var priority: String {
        switch self {
        case .immediate: "10"
        case .powerAware: "5"
        case .powerFirst: "1"
        }
    }
}
