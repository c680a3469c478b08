internal import Wire

/// Following what happens.
extension SimulatedAPNs {
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

    /// The streams that are refused from now on because a client has too many open.
    ///
    /// - Returns: A sequence for one reader, until the simulator stops.
    package func refusedStreams() -> AsyncStream<RefusedStreams> {
        follow(holding: .bufferingNewest(100), beginningWith: []) { reader, event in
            guard case .streamsRefused(let streams) = event, case .terminated = reader.yield(streams) else {
                return true
            }
            return false
        }
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

    /// Whether one more may wait, or follow, over HTTP: the rest of the places is for questions that are short.
    var hasRoomForLongCalls: Bool { inbox.listenerCount < SimulatedAPNs.longCallLimit }

    private static let longCallLimit = 500

    /// What happens, for somebody who may be slow: one who falls far behind is let go, and comes back with the number
    /// of the last push they heard of.
    ///
    /// - Parameter number: Pushes with higher numbers come first, as far as they are remembered; nil for none.
    /// - Returns: The sequence, for one reader.
    func events(after number: Int?) -> AsyncStream<SimulatorEvent> {
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
