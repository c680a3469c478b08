/// What the simulator has counted.
extension SimulatedAPNs {
    /// What was counted, in Prometheus' words.
    var metrics: String {
        let statuses = answers.sorted { $0.key < $1.key }
            .map { "martlet_simulator_pushes_total{status=\"\($0.key)\"} \($0.value)\n" }
        return "# HELP martlet_simulator_pushes_total Pushes by the status of their answers; 0 for none.\n"
            + "# TYPE martlet_simulator_pushes_total counter\n" + statuses.joined()
            + "# HELP martlet_simulator_connections Clients that are connected.\n"
            + "# TYPE martlet_simulator_connections gauge\nmartlet_simulator_connections \(clients.count)\n"
    }
}
