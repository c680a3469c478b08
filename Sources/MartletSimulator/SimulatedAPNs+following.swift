internal import MartletTransport

/// Sequences of a simulator's events.
extension SimulatedAPNs {
    /// Returns the pushes that are received from now on, until the simulator stops.
    ///
    /// - Returns: A sequence for one reader. It buffers the newest pushes that have not been read, up to
    ///   ``Configuration/keptPushes``.
    public func arrivals() -> AsyncStream<ReceivedPush> {
        follow(holding: .bufferingNewest(configuration.keptPushes), beginningWith: []) { reader, event in
            guard case .received(let push) = event, case .terminated = reader.yield(push) else { return true }
            return false
        }
    }

    /// Returns the errors that prevent received pushes from being written to the data file, one each time that writing
    /// begins to fail.
    ///
    /// - Returns: A sequence for one reader, until the simulator stops. It buffers the newest error.
    public func troubles() -> AsyncStream<SimulatorError> {
        let (stream, reader) = AsyncStream.makeStream(of: SimulatorError.self, bufferingPolicy: .bufferingNewest(1))
        // These readers are not followers, so that events need not be recorded for a reader of errors alone.
        if isStopped { reader.finish() } else { troubleReaders.append(reader) }
        return stream
    }

    /// Returns the streams that are refused from now on because a client has too many open.
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

    /// Returns a sequence of events from now on, until the simulator stops.
    ///
    /// - Parameters:
    ///   - policy: The buffering policy for unread elements.
    ///   - first: The elements that it begins with.
    ///   - tell: Puts an event into the sequence; returns false when its reader is gone.
    /// - Returns: The sequence, for one reader.
    func follow<Element: Sendable>(
        holding policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        beginningWith first: [Element],
        _ tell: @escaping (AsyncStream<Element>.Continuation, SimulatorEvent) -> Bool
    ) -> AsyncStream<Element> {
        // A new follower must not be passed earlier events, so pass those to the others first.
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

    /// Whether another client may wait or follow over HTTP: the other connections are reserved for short requests.
    var hasRoomForLongCalls: Bool { inbox.listenerCount < SimulatedAPNs.longCallLimit }

    private static let longCallLimit = 500

    /// Returns events for a client that may be slow.
    ///
    /// The sequence of a client that falls too far behind ends; the client reconnects with the number of the last push
    /// it has received.
    ///
    /// - Parameter number: The number after which stored pushes come first; nil for none.
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

    /// Passes an event to the followers at least once every 15 seconds.
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

    /// The maximum number of unread events of a follower.
    private static let untoldEvents = 10_000
    /// The maximum time without an event, because proxies and browsers close a connection that is idle for a minute.
    private static let longestSilence: Duration = .seconds(15)

    /// Passes recorded events to the followers at the end of the turn of the event loop.
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

/// Finishes a sequence when the follower that puts events into it is released.
private final class StreamEnding<Element: Sendable> {
    let reader: AsyncStream<Element>.Continuation

    init(_ reader: AsyncStream<Element>.Continuation) {
        self.reader = reader
    }

    deinit {
        reader.finish()
    }
}
