// SPDX-License-Identifier: Apache-2.0

/// The received pushes, and waiting for pushes.
extension SimulatedAPNs {
    /// The received pushes that are still stored, oldest first.
    public var pushes: [ReceivedPush] {
        get async { await inbox.pushes }
    }

    /// The total number of received pushes, including those that are no longer stored.
    public var pushCount: Int {
        get async { await inbox.lastNumber }
    }

    /// Waits until enough pushes match a query, including pushes that have already been received.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - count: The number of pushes that must match; 1 by default.
    ///   - number: The number after which pushes count; 0, the default, for all that are stored.
    ///   - timeout: The maximum time to wait; 10 seconds by default.
    /// - Returns: The matching pushes, oldest first. After the timeout, or when the simulator stops, those found so far
    ///   and the pushes that almost match.
    public func wait(
        for query: PushQuery,
        count: Int = 1,
        after number: Int = 0,
        timeout: Duration = .seconds(10)
    ) async -> WaitResult {
        await inbox.wait(for: query, count: count, after: number, timeout: timeout)
    }

    /// Forgets received pushes, except those that are pinned on the page; the numbering of pushes continues.
    ///
    /// - Parameter query: The query for the pushes to forget; all by default.
    /// - Returns: The number of forgotten pushes.
    @discardableResult
    public func forgetPushes(matching query: PushQuery = .everything) async -> Int {
        await inbox.removePushes { !$0.labels.isPinned && query.matches($0) }
    }

    /// Returns the pushes that are received from now on, until the simulator stops.
    ///
    /// - Returns: A sequence for one reader. It buffers the newest pushes that have not been read, up to
    ///   ``Configuration/storedPushes``.
    public func arrivals() async -> AsyncStream<ReceivedPush> {
        await inbox.listen { if case .received(let push) = $0 { push } else { nil } }
    }

    /// Returns the notices about refused streams and failed connections from now on, until the simulator stops.
    package func notices() async -> AsyncStream<ConnectionNotice> {
        await inbox.listen(buffering: 100) { if case .noticed(let notice) = $0 { notice } else { nil } }
    }

    /// The error that prevents received pushes from being written to the data file; nil when there is none.
    public var archiveProblem: SimulatorError? {
        get async { await archive.problem }
    }

    /// The number of pushes in the data file that could not be read at the start; they are not shown.
    public var unreadablePushes: Int {
        get async { await archive.unreadablePushes }
    }

    /// Returns the errors that prevent received pushes from being written to the data file, one each time that writing
    /// begins to fail.
    ///
    /// - Returns: A sequence for one reader, until the simulator stops. It buffers the newest error.
    public func errors() async -> AsyncStream<SimulatorError> {
        await inbox.listen(buffering: 1) { if case .archiveFailed(let error) = $0 { error } else { nil } }
    }
}
