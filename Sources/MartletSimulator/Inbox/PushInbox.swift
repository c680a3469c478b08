// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletTransport

/// The received pushes, with the callers that wait for pushes and the readers of events.
///
/// The actor runs on the event loop of the simulator, so that ``PushService`` records pushes without suspending.
actor PushInbox {
    /// Stored pushes, with the state of the inbox at that moment.
    struct Listing: Sendable {
        /// The pushes, oldest first.
        var pushes: [ReceivedPush]
        /// The number of all stored pushes.
        var total: Int
        /// The number of the push that was received last, after which a client can wait without missing one.
        let lastNumber: Int
    }

    /// The effects of a request to remove pushes.
    struct Removal: Sendable {
        /// The removed pushes.
        let pushes: [ReceivedPush]
        /// Whether no push is left.
        let isComplete: Bool
        /// The names of the namespaces that have ended.
        let namespaces: Set<String>
    }

    /// The maximum number of clients that wait for pushes or read events, which reserves connections for others.
    private static let listenerLimit = 500
    /// The maximum number of devices with a nickname.
    private static let nameLimit = 10_000
    /// The maximum number of unread events of a reader of all events.
    private static let backlogLimit = 10_000
    /// The interval of ``SimulatorEvent/keepAlive``: the inbox page reports a lost connection after three intervals
    /// without one, and proxies and browsers close a connection that is idle for a minute.
    private static let keepAliveInterval: Duration = .seconds(3)

    private nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop of the simulator.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let clock: WallClock
    private let arrivalLimit: Int
    private var log: PushLog
    private var waiters = PushWaiters()
    private var namespaces = Namespaces()
    /// The nicknames of devices, by their tokens in lower case.
    private(set) var names: [String: String] = [:]
    private var generator: SplitMix64
    private let feed = EventFeed<SimulatorEvent>()
    /// The events that are reported at the end of the turn of the event loop.
    private var pendingEvents: [SimulatorEvent] = []
    private var isReportScheduled = false
    private var isKeepAliveScheduled = false
    private var isStopped = false
    private var onEvents: (@Sendable ([SimulatorEvent]) -> Void)?
    private var onRemoval: (@Sendable (Removal) -> Void)?
    private var onRead: (@Sendable (Int64) -> DeviceRegistry.Deliveries)?

    /// Creates an empty inbox.
    init(limit: Int, longestAge age: Duration, seed: UInt64, clock: WallClock, on loop: EventLoop) {
        self.loop = loop
        self.clock = clock
        arrivalLimit = limit
        log = PushLog(limit: limit, longestAge: age)
        generator = SplitMix64(state: seed)
    }

    // MARK: Received pushes

    /// The stored pushes, oldest first.
    var pushes: [ReceivedPush] {
        removeExpired()
        return log.pushes
    }

    /// The stored push that was received last; nil for none.
    var newest: ReceivedPush? {
        removeExpired()
        return log.newest
    }

    /// Returns the push with this number; nil when it is not stored.
    func push(_ number: Int) -> ReceivedPush? {
        removeExpired()
        return log[number]
    }

    /// Returns stored pushes, oldest first: those with numbers between two others, at most `limit` of the newest.
    func pushes(after number: Int = -1, before end: Int = .max, limit: Int = .max) -> [ReceivedPush] {
        removeExpired()
        return log.pushes(after: number, before: end, limit: limit)
    }

    /// Returns the newest stored pushes before a number, with the figures of the same moment.
    func listing(before end: Int = .max, limit: Int = .max) -> Listing {
        Listing(pushes: pushes(before: end, limit: limit), total: log.count, lastNumber: log.lastNumber)
    }

    /// The number of the push that was received last, which is the number of pushes received in total.
    var lastNumber: Int { log.lastNumber }

    /// Restores earlier pushes, oldest first, and the nicknames of devices, without reporting events.
    ///
    /// - Returns: The numbers of the pushes that exceed the limit.
    func restore(_ pushes: [ReceivedPush], lastNumber: Int, names: [String: String]) -> [ClosedRange<Int>] {
        var pushes = pushes
        self.names = names
        if !names.isEmpty {
            for index in pushes.indices {
                pushes[index].labels.deviceName = names[pushes[index].deviceToken.lowercased()]
            }
        }
        return log.restore(pushes, lastNumber: lastNumber)
    }

    /// Adds a push.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - repeated: The number of the push that it repeats, which gets the finding, too; nil for none.
    func receive(_ push: ReceivedPush, repeating repeated: Int? = nil) {
        var push = push
        if !names.isEmpty || push.labels.deviceName != nil {
            push.labels.deviceName = names[push.deviceToken.lowercased()]
        }
        prune(at: push.arrival)
        if log.hasUnpinned { for numbers in log.forgetUnpinned() { report(.forgotten(numbers)) } }
        if let numbers = log.append(push) { report(.forgotten(numbers)) }
        waiters.receive(push)
        // Without readers, no event is created.
        if hasReaders { report(.received(push)) }
        if let number = repeated, let first = log[number] {
            let finding = TrafficRules.repeated(by: push.number, hasSameID: first.id == push.id)
            if log.add(finding, to: number) { reportChange(of: number) }
        }
    }

    /// Adds the pushes of an export; records that are not valid pushes are skipped.
    ///
    /// - Returns: The number of the last push in the inbox.
    func add(_ records: [JSONValue]) -> Int {
        let now = clock.millisecondsSince1970()
        let first = log.lastNumber + 1
        var pushes: [ReceivedPush] = []
        var numbers: [Int: Int] = [:]
        for record in records {
            let number = first + pushes.count
            guard let push = try? ReceivedPush(record: record, number: number, arrival: now) else { continue }
            if let old = record["number"]?.integerValue { numbers[Int(clamping: old)] = number }
            pushes.append(push)
        }
        for index in pushes.indices {
            // The events of the export name the numbers that other pushes had in the simulator that exported them.
            let events = pushes[index].deliveries
            pushes[index].deliveries = events.map { $0.replacing($0.replacedBy.flatMap { numbers[$0] }) }
        }
        for var push in pushes {
            if log.pinCount >= PushLabels.pinLimit { push.labels.isPinned = false }
            receive(push)
        }
        return log.lastNumber
    }

    /// Records delivery events; those of pushes that are no longer stored are ignored.
    func record(_ deliveries: DeviceRegistry.Deliveries) {
        guard !deliveries.isEmpty else { return }
        for (number, event) in deliveries { log.record(event, on: number) }
        // A broadcast can have an event for each of many devices.
        for number in Set(deliveries.map(\.number)).sorted() { reportChange(of: number) }
    }

    /// Records that a push was sent on to a real device, with the answer.
    func recordRelease(of number: Int, _ answer: String) {
        record([(number, DeliveryEvent(.released, at: clock.millisecondsSince1970(), answer))])
    }

    /// Records that the answer to a push was not written.
    func loseAnswer(of number: Int, to loss: AnswerLoss) {
        log.loseAnswer(of: number, to: loss)
        reportChange(of: number)
    }

    /// Removes the pushes that match a condition, even pinned ones; the numbering of pushes continues.
    ///
    /// - Returns: The number of removed pushes.
    @discardableResult
    func removePushes(where isUnwanted: @Sendable (ReceivedPush) -> Bool) -> Int {
        remove(where: isUnwanted, endingNamespaces: [])
    }

    private func remove(where isUnwanted: (ReceivedPush) -> Bool, endingNamespaces names: Set<String>) -> Int {
        let (removed, ranges) = log.remove(where: isUnwanted)
        for numbers in ranges { report(.forgotten(numbers)) }
        onRemoval?(Removal(pushes: removed, isComplete: log.count == 0, namespaces: names))
        return removed.count
    }

    /// Removes pushes that are too old, and expired namespaces with their pushes, and records the expiry of pushes that
    /// are stored for devices.
    private func removeExpired() {
        let now = clock.millisecondsSince1970()
        if let expired = onRead?(now) { record(expired) }
        prune(at: now)
        removePushes(in: namespaces.removeEnded(at: now))
    }

    private func prune(at now: Int64) {
        for numbers in log.prune(at: now) { report(.forgotten(numbers)) }
    }

    /// Sets the functions that keep the devices in agreement with the stored pushes.
    ///
    /// - Parameters:
    ///   - onRemoval: The function that is called after each request to remove pushes.
    ///   - onRead: The function that is called before pushes are read. It returns the events of the pushes that were
    ///     stored for a device and have expired at a time in milliseconds since 1970.
    func setHandlers(
        onRemoval: @escaping @Sendable (Removal) -> Void,
        onRead: @escaping @Sendable (Int64) -> DeviceRegistry.Deliveries
    ) {
        self.onRemoval = onRemoval
        self.onRead = onRead
    }

    // MARK: Labels

    /// Sets the tags of a push, and whether it is pinned, where they are not nil.
    ///
    /// - Returns: Whether the number of pinned pushes permits it.
    func label(_ number: Int, tags: [String]?, isPinned: Bool?) -> Bool {
        let isNewPin = isPinned == true && log[number]?.labels.isPinned == false
        guard !isNewPin || log.pinCount < PushLabels.pinLimit else { return false }
        log.label(number, tags: tags, isPinned: isPinned)
        reportChange(of: number)
        return true
    }

    /// Sets the nickname of a device, whose token is in lower case; nil removes it.
    ///
    /// - Returns: Whether the number of nicknames permits it.
    func setName(_ name: String?, ofDevice token: String) -> Bool {
        guard name == nil || names[token] != nil || names.count < PushInbox.nameLimit else { return false }
        names[token] = name
        log.setName(name, ofDevice: token)
        report(.devicesChanged)
        return true
    }

    // MARK: Namespaces

    /// Creates a namespace; returns nil when there are too many.
    func makeNamespace(lasting seconds: Int) -> Namespaces.Namespace? {
        removeExpired()
        return namespaces.make(lasting: seconds, at: clock.millisecondsSince1970(), using: &generator)
    }

    /// Ends a namespace and removes its pushes; returns false when there is none of this name.
    func endNamespace(_ name: String) -> Bool {
        guard namespaces.remove(name) else { return false }
        removePushes(in: [name])
        return true
    }

    /// Returns the namespace of a push with this header and device token; nil for none.
    func namespace(header: String?, deviceToken: String) -> String? {
        namespaces.namespace(header: header, deviceToken: deviceToken)
    }

    private func removePushes(in ended: Set<String>) {
        guard !ended.isEmpty else { return }
        _ = remove(where: { $0.namespace.map(ended.contains) ?? false }, endingNamespaces: ended)
    }

    // MARK: Waiting

    /// Waits until enough pushes match a query, including stored ones.
    ///
    /// - Returns: The matching pushes, oldest first. After the timeout, or when the simulator stops, those found so far
    ///   and the pushes that almost match.
    func wait(for query: PushQuery, count: Int, after number: Int, timeout: Duration) async -> SimulatedAPNs.WaitResult
    {
        removeExpired()
        let search = PushSearch(query, after: number, count: max(1, count), among: log.pushes(after: number))
        if let result = search.result { return result }
        guard !isStopped, timeout > .zero else { return search.shortfall(in: log) }
        return await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            let id = waiters.add(search) { result in
                timer?.cancel()
                continuation.resume(returning: result)
            }
            timer = loop.schedule(after: timeout) { [weak self] in
                self?.assumeIsolated { inbox in inbox.waiters.end(id, with: inbox.log) }
            }
        }
    }

    // MARK: Events

    /// Whether another client may wait or read events over HTTP.
    var admitsListener: Bool { waiters.count + feed.listenerCount < PushInbox.listenerLimit }

    /// Returns earlier values, and those that a function selects from the events until the simulator stops; the newest
    /// unread ones are buffered, by default up to the maximum number of stored pushes.
    func listen<Value: Sendable>(
        buffering limit: Int? = nil,
        after earlier: [Value] = [],
        _ select: @escaping @Sendable (SimulatorEvent) -> Value?
    ) -> AsyncStream<Value> {
        reportPending()
        return feed.listen(buffering: .bufferingNewest(limit ?? arrivalLimit), after: earlier, select)
    }

    /// Returns the events for a reader, until the simulator stops.
    ///
    /// The sequence of a reader that falls too far behind ends; the reader can continue with the number of the last
    /// push or report that it has received.
    ///
    /// - Parameters:
    ///   - number: The number of the push after which the reader has missed pushes; nil for no missed ones.
    ///   - reports: The missed reports of phones for a reader of reports; nil for a reader of all other events.
    /// - Returns: The missed events, followed by those from now on.
    func events(after number: Int?, reports: [PhoneReport]? = nil) -> AsyncStream<SimulatorEvent> {
        let missedPushes = number.map { pushes(after: $0) } ?? []
        let missed = reports?.map(SimulatorEvent.reported) ?? missedPushes.map(SimulatorEvent.received)
        let readsReports = reports != nil
        reportPending()
        scheduleKeepAlive()
        return feed.listen(
            buffering: .bufferingOldest(missed.count + PushInbox.backlogLimit),
            endsWhenFull: true,
            after: missed
        ) { $0.isFor(readersOfReports: readsReports) ? $0 : nil }
    }

    /// Sets the function that is passed all events in order, at the end of each turn of the event loop.
    func setEventHandler(_ handler: @escaping @Sendable ([SimulatorEvent]) -> Void) {
        onEvents = handler
    }

    private var hasReaders: Bool { onEvents != nil || feed.listenerCount > 0 }

    /// Reports an event at the end of the turn of the event loop, so that many pushes in one read wake each reader
    /// once.
    func report(_ event: SimulatorEvent) {
        guard hasReaders else { return }
        pendingEvents.append(event)
        guard !isReportScheduled else { return }
        isReportScheduled = true
        loop.atEndOfTurn { [weak self] in
            self?.assumeIsolated { inbox in
                inbox.isReportScheduled = false
                inbox.reportPending()
            }
        }
    }

    private func reportChange(of number: Int) {
        if hasReaders, let push = log[number] { report(.changed(push)) }
    }

    /// Reports the pending events, which a new reader must not be passed.
    private func reportPending() {
        guard !pendingEvents.isEmpty else { return }
        let events = pendingEvents
        pendingEvents.removeAll(keepingCapacity: true)
        onEvents?(events)
        feed.report(contentsOf: events)
    }

    private func scheduleKeepAlive() {
        guard !isKeepAliveScheduled else { return }
        isKeepAliveScheduled = true
        loop.schedule(after: PushInbox.keepAliveInterval) { [weak self] in
            self?.assumeIsolated { inbox in
                inbox.isKeepAliveScheduled = false
                inbox.report(.keepAlive)
                if inbox.feed.listenerCount > 0 { inbox.scheduleKeepAlive() }
            }
        }
    }

    // MARK: End

    /// Ends all waits, and those that begin later.
    func stopWaiting() {
        isStopped = true
        waiters.end(nil, with: log)
    }

    /// Reports the last events and ends all sequences, because no more pushes will come.
    func close() {
        reportPending()
        feed.finish()
    }
}
