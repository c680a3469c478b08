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

    /// The pushes that come in from now on, one by one, until the simulator stops.
    ///
    /// - Returns: A sequence for one reader. Of pushes that it has not read yet it holds the newest, as many as
    ///   ``Configuration/keptPushes`` says.
    public func arrivals() -> AsyncStream<ReceivedPush> {
        follow(holding: .bufferingNewest(configuration.keptPushes), beginningWith: []) { reader, event in
            guard case .received(let push) = event, case .terminated = reader.yield(push) else { return true }
            return false
        }
    }

    /// Why what comes in cannot be kept in the file that was asked for, as often as that begins.
    ///
    /// - Returns: A sequence for one reader, until the simulator stops.
    public func troubles() -> AsyncStream<SimulatorError> {
        let (stream, reader) = AsyncStream.makeStream(of: SimulatorError.self, bufferingPolicy: .bufferingNewest(1))
        // Kept apart from those who follow the pushes: for who waits for trouble alone, nothing need be noted of these.
        if isStopped { reader.finish() } else { troubleReaders.append(reader) }
        return stream
    }

    /// A sequence of what happens from now on, until the simulator stops.
    ///
    /// - Parameters:
    ///   - policy: What is held of what has not been read yet.
    ///   - first: What it begins with.
    ///   - tell: Puts an event into the sequence; false when its reader is gone.
    /// - Returns: The sequence, for one reader.
    func follow<Element: Sendable>(
        holding policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        beginningWith first: [Element],
        _ tell: @escaping (AsyncStream<Element>.Continuation, SimulatorEvent) -> Bool
    ) -> AsyncStream<Element> {
        // What has happened is not told to who follows from now on.
        inbox.tell()
        let (stream, reader) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        for element in first { reader.yield(element) }
        guard !isStopped else {
            reader.finish()
            return stream
        }
        let ending = StreamEnding(reader)
        inbox.follow { tell(ending.reader, $0) }
        return stream
    }

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
        return inbox.remove(where: isUnwanted)
    }

    /// Whether one more may wait, or follow, over HTTP: the rest of the places is for questions that are short.
    var hasRoomForLongCalls: Bool { inbox.listenerCount < SimulatedAPNs.longCallLimit }

    private static let longCallLimit = 500

    /// What happens, for somebody who may be slow: one who falls far behind is let go, and comes back with the number
    /// of the last push they heard of.
    ///
    /// - Parameter number: Pushes with higher numbers come first, as far as they are remembered; nil for none.
    /// - Returns: The sequence, for one reader.
    func events(after number: Int?) -> AsyncStream<SimulatorEvent> {
        inbox.tell()
        let missed = number.map { number in pushes.filter { $0.number > number } } ?? []
        let limit = missed.count + SimulatedAPNs.untoldEvents
        keepTelling()
        return follow(holding: .bufferingOldest(limit), beginningWith: missed.map(SimulatorEvent.received)) {
            reader,
            event in
            if case .enqueued = reader.yield(event) { true } else { false }
        }
    }

    /// Has the followers hear something at least this often.
    private func keepTelling() {
        guard !isKeepingToTell else { return }
        isKeepingToTell = true
        loop.schedule(after: SimulatedAPNs.longestSilence) { [weak self] in
            self?.assumeIsolated { simulator in
                simulator.isKeepingToTell = false
                simulator.inbox.note(.nothing)
                simulator.tellFollowersSoon()
                if simulator.inbox.hasFollowers { simulator.keepTelling() }
            }
        }
    }

    /// Events that one follower may have before them.
    private static let untoldEvents = 10_000
    /// Proxies and browsers take a connection for dead when it is silent for a minute.
    private static let longestSilence: Duration = .seconds(15)

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

    /// Has the followers be told once the turn of the loop is over, if there is anything to tell.
    func tellFollowersSoon() {
        guard inbox.hasNews, !isTellingSoon else { return }
        isTellingSoon = true
        loop.atEndOfTurn { [weak self] in
            self?.assumeIsolated { simulator in
                simulator.isTellingSoon = false
                simulator.inbox.tell()
            }
        }
    }

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

/// Ends a sequence when nobody puts anything into it any more.
private final class StreamEnding<Element: Sendable> {
    let reader: AsyncStream<Element>.Continuation

    init(_ reader: AsyncStream<Element>.Continuation) {
        self.reader = reader
    }

    deinit {
        reader.finish()
    }
}
