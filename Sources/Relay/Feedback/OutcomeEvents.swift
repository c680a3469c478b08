internal import APNs
internal import Outbox
internal import WebAPI

/// Tells whoever listens how pushes end, as server-sent events.
///
/// The last ones are kept for listeners that come back. One that reads too slowly is let go, and comes back by itself.
struct OutcomeEvents {
    /// Events that are kept.
    private static let kept = 10_000
    /// Listeners at once.
    static let listenerLimit = 100

    private struct Event {
        var number: Int
        var push: PushStatus

        /// As a listener gets it, which costs more than all else: it is done for those alone who listen.
        func bytes(run: Int64) -> [UInt8] { ServerSentEvent.bytes("outcome", push.json, id: "\(run)-\(number)") }
    }

    private struct Listener {
        var apps: Set<String>
        var continuation: AsyncStream<[UInt8]>.Continuation
    }

    /// Tells the events of this run of the relay from those of others.
    private let run: Int64
    /// The kept events; what is before `first` has been let go.
    private var events: [Event] = []
    private var lastNumber = 0
    private var listeners: [Int: Listener] = [:]
    private var lastListener = 0

    /// No events yet, of a run that began at this time.
    init(run: Int64) {
        self.run = run
    }

    /// Whether another one may listen.
    var hasRoom: Bool { listeners.count < OutcomeEvents.listenerLimit }

    /// A push has ended.
    mutating func note(_ status: PushStatus) {
        lastNumber += 1
        let event = Event(number: lastNumber, push: status)
        events.append(event)
        // Seldom, so that it costs little.
        if events.count >= 2 * OutcomeEvents.kept { events.removeFirst(events.count - OutcomeEvents.kept) }
        guard !listeners.isEmpty else { return }
        let bytes = event.bytes(run: run)
        for (key, listener) in listeners where listener.apps.contains(status.lane.app) { tell(key, listener, bytes) }
    }

    /// Lets everybody know that the relay is still there.
    mutating func sign() {
        for (key, listener) in listeners { tell(key, listener, ServerSentEvent.sign) }
    }

    /// Somebody listens from now on, or from after the event that it has seen last.
    ///
    /// - Parameters:
    ///   - apps: Whose pushes.
    ///   - lastID: The identifier of the last event that was seen; nil for none.
    /// - Returns: The events, a `gap` before them when some were missed that are not kept.
    mutating func listen(to apps: Set<String>, after lastID: String?) -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(2 * OutcomeEvents.kept)
        )
        lastListener += 1
        let listener = Listener(apps: apps, continuation: continuation)
        listeners[lastListener] = listener
        guard let lastID else { return stream }
        let parts = lastID.split(separator: "-")
        let seen = parts.count == 2 && parts[0] == String(run) ? Int(parts[1]) : nil
        let first = events.first?.number ?? lastNumber + 1
        if (seen ?? -1) + 1 < first { continuation.yield(ServerSentEvent.bytes("gap", [:])) }
        for event in events where event.number > seen ?? 0 && apps.contains(event.push.lane.app) {
            continuation.yield(event.bytes(run: run))
        }
        return stream
    }

    /// Everybody is let go.
    mutating func finish() {
        for listener in listeners.values { listener.continuation.finish() }
        listeners = [:]
    }

    private mutating func tell(_ key: Int, _ listener: Listener, _ bytes: [UInt8]) {
        guard case .enqueued = listener.continuation.yield(bytes) else {
            listener.continuation.finish()
            listeners[key] = nil
            return
        }
    }
}
