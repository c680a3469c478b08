internal import APNs
internal import APNsClient
internal import Wire

/// What came in, and waiting for it.
extension SimulatedAPNs {
    /// What has come in, oldest first, as far back as the simulator remembers.
    public var pushes: [ReceivedPush] {
        forgetWhatIsOver()
        return inbox.log.pushes
    }

    /// How many pushes have come in altogether.
    public var pushCount: Int { inbox.log.lastNumber }

    /// Waits until pushes have come in that a query is true of; what has come in before counts.
    ///
    /// - Parameters:
    ///   - query: What is looked for.
    ///   - count: How many of those there have to be.
    ///   - number: Only pushes with higher numbers count; 0, the default, for all that are remembered.
    ///   - timeout: How long to wait.
    /// - Returns: The pushes, oldest first, or what came close to them.
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

    /// Forgets pushes that came in; numbers go on counting.
    ///
    /// - Parameter query: Which ones; all by default.
    /// - Returns: How many those were.
    @discardableResult
    public func forgetPushes(matching query: PushQuery = .everything) -> Int {
        forgetPushes(where: query.matches)
    }

    /// Forgets the pushes that a condition is true of; says how many those were.
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

    /// Makes a namespace; nil when there are too many.
    func makeNamespace(lasting seconds: Int) -> Namespaces.Namespace? {
        forgetWhatIsOver()
        return namespaces.make(lasting: seconds, at: clock.secondsSince1970(), using: &generator)
    }

    /// Ends a namespace; false when there is none of this name.
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

    /// Forgets pushes that are too old, and namespaces whose time is over with all that belongs to them.
    private func forgetWhatIsOver() {
        let now = clock.secondsSince1970()
        inbox.prune(at: now)
        forget(namespaces: namespaces.removeEnded(at: now))
        tellFollowersSoon()
    }

    /// Takes in pushes of an export; those that are none are left out.
    ///
    /// - Returns: The number of the last push there is now.
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
