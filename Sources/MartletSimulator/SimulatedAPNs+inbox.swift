internal import Martlet
internal import MartletCore
internal import MartletTransport

/// The received pushes, and waiting for pushes.
extension SimulatedAPNs {
    /// The received pushes that are still stored, oldest first.
    public var pushes: [ReceivedPush] {
        forgetWhatIsOver()
        return inbox.log.pushes
    }

    /// The total number of received pushes, including those that are no longer stored.
    public var pushCount: Int { inbox.log.lastNumber }

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
        forgetWhatIsOver()
        return await withCheckedContinuation { continuation in
            let canWait = !isStopped && timeout > .zero
            var timer: LoopTimer?
            let id = inbox.wait(for: query, count: count, after: number, canWait: canWait) {
                timer?.cancel()
                continuation.resume(returning: $0)
            }
            guard let id else { return }
            timer = loop.schedule(after: timeout) { [weak self] in self?.assumeIsolated { $0.inbox.giveUp(id) } }
        }
    }

    /// Forgets received pushes; the numbering of pushes continues.
    ///
    /// - Parameter query: The query for the pushes to forget; all by default.
    /// - Returns: The number of forgotten pushes.
    @discardableResult
    public func forgetPushes(matching query: PushQuery = .everything) -> Int {
        forgetPushes(where: query.matches)
    }

    /// Forgets the pushes that match a condition, and returns their number.
    @discardableResult
    func forgetPushes(where isUnwanted: @Sendable (ReceivedPush) -> Bool) -> Int {
        defer { tellFollowersSoon() }
        let removed = inbox.log.pushes.filter(isUnwanted)
        let count = inbox.remove(where: isUnwanted)
        if inbox.log.pushes.isEmpty {
            traffic = TrafficRules()
        } else {
            traffic.forget(removed.map { ($0.deviceToken.lowercased(), $0.headers.topic ?? "") })
        }
        return count
    }

    /// Creates a namespace; returns nil when there are too many.
    func makeNamespace(lasting seconds: Int) -> Namespaces.Namespace? {
        forgetWhatIsOver()
        return namespaces.make(lasting: seconds, at: clock.secondsSince1970(), using: &generator)
    }

    /// Ends a namespace; returns false when there is none of this name.
    func endNamespace(_ name: String) -> Bool {
        guard namespaces.remove(name) else { return false }
        forget(namespaces: [name])
        return true
    }

    private func forget(namespaces names: Set<String>) {
        guard !names.isEmpty else { return }
        forgetPushes { $0.namespace.map(names.contains) ?? false }
        judge.devices.remove(prefixes: names)
    }

    /// Forgets pushes that are too old, and expired namespaces with their pushes and devices.
    private func forgetWhatIsOver() {
        let now = clock.secondsSince1970()
        inbox.prune(at: now)
        forget(namespaces: namespaces.removeEnded(at: now))
        tellFollowersSoon()
    }

    /// Adds the pushes of an export; records that are not valid pushes are skipped.
    ///
    /// - Returns: The number of the last push in the inbox.
    func takeIn(_ records: [JSONValue]) -> Int {
        let now = clock.secondsSince1970()
        for record in records {
            let number = inbox.log.lastNumber + 1
            guard let push = try? ReceivedPush(record: record, number: number, arrival: now) else { continue }
            inbox.receive(push)
        }
        tellFollowersSoon()
        return inbox.log.lastNumber
    }
}
