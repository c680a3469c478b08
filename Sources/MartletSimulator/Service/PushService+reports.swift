// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer

/// The reports about connections.
extension PushService {
    /// The open connections, newest first, and the closed ones.
    var connections: (open: [ConnectionRecord], closed: ClosedConnections) {
        let open = clients.values.map(\.currentRecord)
        return (open.sorted { ($0.openedAt, $0.id) > ($1.openedAt, $1.id) }, closedConnections)
    }

    /// The counters of the service.
    var metrics: MetricSheet {
        let refused = clients.values.reduce(closedConnections.refusedStreams) { $0 + $1.connection.refusedStreamCount }
        let reset = clients.values.reduce(closedConnections.resetStreams) { $0 + $1.connection.resetStreamCount }
        let prefix = "martlet_simulator_"
        var sheet = MetricSheet()
        sheet.family(prefix + "pushes_total", .counter, "Pushes by the status of their answers.")
        for (status, count) in answers.sorted(by: { $0.key < $1.key }) { sheet.add(["status": "\(status)"], count) }
        sheet.single(prefix + "pushes_unanswered_total", .counter, "Pushes without an answer.", unanswered)
        sheet.single(prefix + "connections", .gauge, "Clients that are connected.", clients.count)
        sheet.single(prefix + "streams_refused_total", .counter, "Streams refused because too many were open.", refused)
        sheet.single(prefix + "streams_reset_total", .counter, "Streams that clients have reset.", reset)
        return sheet
    }
}
