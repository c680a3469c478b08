// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The server-sent events about outcomes of pushes and ends of jobs, and their listeners.
///
/// The last events are stored for listeners that reconnect. The stream of a listener that reads too slowly is ended, so
/// that its client reconnects.
struct OutcomeEvents {
    /// The number of events that remain when the list is trimmed.
    private static let storedLimit = 10_000
    /// The maximum number of listeners.
    static let listenerLimit = 200
    /// The maximum number of listeners of one caller.
    static let listenersPerCaller = 20
    /// The maximum number of stored events that are searched for one piece of a replay.
    static let replayPieceLimit = 100

    /// The end of a push or of a job.
    struct Event: Sendable {
        enum Subject: Sendable {
            case push(PushStatus)
            /// A job without its request, which may be long.
            indirect case job(StoredJob)
        }

        var number: Int
        var subject: Subject

        /// The app of the push or of the job.
        var app: String {
            switch subject {
            case .push(let push): push.lane.app
            case .job(let job): job.job.app
            }
        }

        /// Returns the encoded event, which is the same for all listeners, and so what a key without `send` may see.
        ///
        /// Encoding is expensive and only done when there are listeners.
        func bytes(run: Int64) -> [UInt8] {
            let id = "\(run)-\(number)"
            return switch subject {
            case .push(let push): ServerSentEvent.bytes("outcome", push.withoutRequestValues.json, id: id)
            case .job(let job): ServerSentEvent.bytes("job", job.json, id: id)
            }
        }
    }

    private struct Listener {
        var caller: String
        var apps: Set<String>
        /// The time when the caller's credentials expire, in seconds since 1970; nil for never.
        var expiresAt: Int64?
        var continuation: AsyncStream<[UInt8]>.Continuation
    }

    /// The start of this run of the relay, which is part of the events' identifiers.
    private let run: Int64
    private var events: [Event] = []
    private var lastNumber = 0
    private var listeners: [Int: Listener] = [:]
    private var lastListener = 0

    /// Creates an empty list of events for a run that began at this time.
    init(run: Int64) {
        self.run = run
    }

    var listenerCount: Int { listeners.count }

    /// Returns whether a caller may have another listener.
    func hasRoom(for caller: String) -> Bool {
        listeners.count < OutcomeEvents.listenerLimit
            && listeners.values.count { $0.caller == caller } < OutcomeEvents.listenersPerCaller
    }

    /// Stores the event of a push that has ended, and sends it to the listeners.
    mutating func record(_ status: PushStatus) {
        add(.push(status))
    }

    /// Stores the event of a job that has ended, and sends it to the listeners.
    mutating func record(_ job: StoredJob) {
        var job = job
        job.job.request = []
        add(.job(job))
    }

    private mutating func add(_ subject: Event.Subject) {
        lastNumber += 1
        let event = Event(number: lastNumber, subject: subject)
        events.append(event)
        // Trimmed when twice the number is stored, so that the cost per event is low.
        if events.count >= 2 * OutcomeEvents.storedLimit {
            events.removeFirst(events.count - OutcomeEvents.storedLimit)
        }
        guard !listeners.isEmpty else { return }
        let bytes = event.bytes(run: run)
        for (key, listener) in listeners where listener.apps.contains(event.app) { send(key, listener, bytes) }
    }

    /// Sends a keep-alive comment to every listener.
    mutating func sendKeepAlive() {
        for (key, listener) in listeners { send(key, listener, ServerSentEvent.keepAlive) }
    }

    /// Adds a listener to the events of a caller's apps, and returns its number and the further events.
    ///
    /// `onEnd` is called on any thread when the client has disconnected.
    mutating func listen(
        for caller: Callers.Caller,
        onEnd: @escaping @Sendable (Int) -> Void
    ) -> (number: Int, further: AsyncStream<[UInt8]>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(2 * OutcomeEvents.storedLimit)
        )
        lastListener += 1
        let number = lastListener
        continuation.onTermination = { _ in onEnd(number) }
        listeners[number] = Listener(
            caller: caller.name,
            apps: caller.apps,
            expiresAt: caller.expiresAt,
            continuation: continuation
        )
        return (number, stream)
    }

    /// Returns the numbers of the stored events after the last one that a client has seen; none without an identifier.
    func replay(after lastID: String?) -> OutcomeStream.Replay {
        guard let lastID else { return OutcomeStream.Replay(next: lastNumber + 1, last: lastNumber) }
        let parts = lastID.split(separator: "-")
        let seen = parts.count == 2 && parts[0] == String(run) ? Int(parts[1]) : nil
        // A number ahead of all events leaves nothing to replay.
        guard let seen, seen < lastNumber else {
            let next = seen == nil ? firstNumber : lastNumber + 1
            return OutcomeStream.Replay(next: next, last: lastNumber, hasGap: seen == nil)
        }
        return OutcomeStream.Replay(
            next: max(seen + 1, firstNumber),
            last: lastNumber,
            hasGap: seen + 1 < firstNumber
        )
    }

    /// The number of the first stored event.
    private var firstNumber: Int { lastNumber - events.count + 1 }

    /// A piece of a replay, which the listener's task encodes.
    struct Piece: Sendable {
        fileprivate var hasGap: Bool
        fileprivate var events: [Event]
        fileprivate var run: Int64
        /// The part of the replay that follows.
        var rest: OutcomeStream.Replay

        /// The encoded events, after a `gap` event when the listener missed events that are not stored any more.
        var bytes: [UInt8] {
            var bytes = hasGap ? ServerSentEvent.bytes("gap", [:]) : []
            for event in events { bytes += event.bytes(run: run) }
            return bytes
        }
    }

    /// Returns the next piece of a replay; nil when the listener was removed.
    func piece(of replay: OutcomeStream.Replay, for listener: Int) -> Piece? {
        guard let apps = listeners[listener]?.apps else { return nil }
        // The oldest events may have been removed since the last piece.
        let next = max(replay.next, firstNumber)
        let end = min(replay.last, next + OutcomeEvents.replayPieceLimit - 1) + 1
        let found = next < end ? events[(next - firstNumber)..<(end - firstNumber)] : []
        return Piece(
            hasGap: replay.hasGap || next > replay.next,
            events: found.filter { apps.contains($0.app) },
            run: run,
            rest: OutcomeStream.Replay(next: max(next, end), last: replay.last)
        )
    }

    /// Removes a listener whose client has disconnected.
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

    /// Ends the streams of callers whose credentials have expired, at a time in seconds since 1970.
    mutating func finishExpired(at now: Int64) {
        for (number, listener) in listeners {
            guard let end = listener.expiresAt, now >= end else { continue }
            listeners[number] = nil
            listener.continuation.finish()
        }
    }

    private mutating func send(_ key: Int, _ listener: Listener, _ bytes: [UInt8]) {
        guard case .enqueued = listener.continuation.yield(bytes) else {
            listeners[key] = nil
            listener.continuation.finish()
            return
        }
    }
}
