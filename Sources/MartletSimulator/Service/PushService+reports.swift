internal import MartletServer

/// The reports about connections.
extension PushService {
    /// The open and the closed connections, newest first.
    var connections: (open: [ConnectionRecord], closed: [ConnectionRecord]) {
        let open = clients.values.map(\.currentRecord)
        return (open.sorted { ($0.openedAt, $0.id) > ($1.openedAt, $1.id) }, closedConnections.all.reversed())
    }

    /// The counters of the service, in the text format of Prometheus.
    var metrics: String {
        let refused = clients.values.reduce(closedConnections.refusedStreams) { $0 + $1.connection.refusedStreamCount }
        let reset = clients.values.reduce(closedConnections.resetStreams) { $0 + $1.connection.resetStreamCount }
        let statuses = answers.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", $0.value) }
        return metric("pushes_total", "counter", "Pushes by the status of their answers.", statuses)
            + metric("pushes_unanswered_total", "counter", "Pushes without an answer.", [("", unanswered)])
            + metric("connections", "gauge", "Clients that are connected.", [("", clients.count)])
            + metric("streams_refused_total", "counter", "Streams refused because too many were open.", [("", refused)])
            + metric("streams_reset_total", "counter", "Streams that clients have reset.", [("", reset)])
    }

    private func metric(
        _ name: String,
        _ kind: String,
        _ help: String,
        _ values: [(labels: String, value: Int)]
    ) -> String {
        let name = "martlet_simulator_\(name)"
        return "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
            + values.map { "\(name)\($0.labels) \($0.value)\n" }.joined()
    }
}
