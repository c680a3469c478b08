internal import APNs
internal import Outbox
internal import WebAPI

/// Reports the outcomes of pushes to listeners, as server-sent events.
///
/// The last events are stored for listeners that come back. A listener that reads too slowly is dropped, and comes back
/// by itself.
struct OutcomeEvents {
    /// The number of events that are stored.
    private static let kept = 10_000
    /// Listeners at once.
    static let listenerLimit = 200
    /// Listeners of one caller at once.
    static let listenersPerCaller = 20

    private struct Event {
        var number: Int
        var push: PushStatus

        /// The event as a listener gets it, which costs more than all else and is only made for listeners.
        func bytes(run: Int64) -> [UInt8] { ServerSentEvent.bytes("outcome", push.json, id: "\(run)-\(number)") }
    }

    private struct Listener {
        var caller: String
        var apps: Set<String>
        var continuation: AsyncStream<[UInt8]>.Continuation
    }

    /// The start of this run of the relay, which is part of the events' identifiers.
    private let run: Int64
    private var events: [Event] = []
    private var lastNumber = 0
    private var listeners: [Int: Listener] = [:]
    private var lastListener = 0

    /// No events yet, of a run that began at this time.
    init(run: Int64) {
        self.run = run
    }

    /// The number of listeners.
    var listenerCount: Int { listeners.count }

    /// Whether a caller may have another listener.
    func hasRoom(for caller: String) -> Bool {
        listeners.count < OutcomeEvents.listenerLimit
            && listeners.values.count { $0.caller == caller } < OutcomeEvents.listenersPerCaller
    }

    /// Reports a push that has ended.
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

    /// Sends every listener a sign that the relay is still there.
    mutating func sign() {
        for (key, listener) in listeners { tell(key, listener, ServerSentEvent.sign) }
    }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - apps: The apps whose pushes it hears of.
    ///   - caller: The caller that listens.
    ///   - lastID: The identifier of the last event that it has seen; nil for none.
    ///   - onEnd: Called with the listener's number when its client has gone, on any thread.
    /// - Returns: The events, a `gap` before them when some were missed that are not stored any more.
    mutating func listen(
        to apps: Set<String>,
        by caller: String,
        after lastID: String?,
        onEnd: @escaping @Sendable (Int) -> Void
    ) -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(2 * OutcomeEvents.kept)
        )
        lastListener += 1
        let number = lastListener
        continuation.onTermination = { _ in onEnd(number) }
        listeners[number] = Listener(caller: caller, apps: apps, continuation: continuation)
        guard let lastID else { return stream }
        let parts = lastID.split(separator: "-")
        let seen = parts.count == 2 && parts[0] == String(run) ? Int(parts[1]) : nil
        let first = events.first?.number ?? lastNumber + 1
        if seen.map({ $0 < first - 1 }) ?? true { continuation.yield(ServerSentEvent.bytes("gap", [:])) }
        for event in events where event.number > seen ?? 0 && apps.contains(event.push.lane.app) {
            continuation.yield(event.bytes(run: run))
        }
        return stream
    }

    /// Removes a listener whose client has gone.
    mutating func remove(_ number: Int) {
        listeners[number] = nil
    }

    /// Ends the streams of some callers, or all of them.
    mutating func finish(where isUnwanted: (_ caller: String, _ apps: Set<String>) -> Bool = { _, _ in true }) {
        for (number, listener) in listeners where isUnwanted(listener.caller, listener.apps) {
            listeners[number] = nil
            listener.continuation.finish()
        }
    }

    private mutating func tell(_ key: Int, _ listener: Listener, _ bytes: [UInt8]) {
        guard case .enqueued = listener.continuation.yield(bytes) else {
            listeners[key] = nil
            listener.continuation.finish()
            return
        }
    }
}
