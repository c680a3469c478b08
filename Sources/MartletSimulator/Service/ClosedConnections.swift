// SPDX-License-Identifier: Apache-2.0

/// The last 100 connections that were closed.
struct ClosedConnections {
    private static let limit = 100

    /// The connections, oldest first.
    private(set) var all: [ConnectionRecord] = []
    /// The number of connections that were closed, these and earlier ones.
    private(set) var count = 0
    /// The number of connections that failed before their first request, these and earlier ones.
    private(set) var failedCount = 0
    /// The number of streams that were refused on closed connections, these and earlier ones.
    private(set) var refusedStreams = 0
    /// The number of streams that clients have reset on closed connections, these and earlier ones.
    private(set) var resetStreams = 0

    /// Adds a connection.
    mutating func add(_ record: ConnectionRecord) {
        if all.count == ClosedConnections.limit { all.removeFirst() }
        all.append(record)
        count += 1
        if record.hasFailed { failedCount += 1 }
        refusedStreams += record.refusedStreams
        resetStreams += record.resetStreams
    }
}
