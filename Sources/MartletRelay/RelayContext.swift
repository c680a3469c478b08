// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The values that the parts of a relay have in common: the event loop, the clock, the outbox and the configuration.
///
/// After a reload, each part receives a context with the new configuration and log level.
struct RelayContext: Sendable {
    let clock: WallClock
    let outbox: any OutboxStore
    /// The recorder of spans; nil when none are exported.
    let spans: SpanRecorder?
    let outboxHealth = OutboxHealth()
    let calls = OutboxCalls()
    /// The counts and lists of installations.
    let longReads = LongCalls()
    /// The pages of imports.
    let importPages = LongCalls()
    let shutdownRequests = ShutdownRequests()
    let longRequests: LongRequests
    /// The time of the start, in milliseconds since 1970.
    let startedAt: Int64
    var configuration: RelayConfiguration
    var log: Logger
    private let owner: LoopOwner

    /// Creates a context with an event loop of its own.
    ///
    /// - Throws: ``RelayError`` when the system provides no descriptor or thread for the event loop.
    init(
        _ configuration: RelayConfiguration,
        _ outbox: any OutboxStore,
        clock: WallClock,
        log: Logger
    ) throws(RelayError) {
        self.configuration = configuration
        self.outbox = outbox
        self.clock = clock
        self.log = log
        startedAt = clock.millisecondsSince1970()
        spans = configuration.telemetry.map { SpanRecorder(share: $0.share, clock: clock) }
        do {
            owner = LoopOwner(try EventLoop())
            longRequests = LongRequests(on: LoopOwner(try EventLoop()))
        } catch {
            throw RelayError("\(error)")
        }
    }

    var loop: EventLoop { owner.loop }

    /// The link to the other relays, when several can share the outbox.
    var sharedOutbox: (any SharedOutbox)? { outbox.shared }

    /// The time in milliseconds since 1970.
    var now: Int64 { clock.millisecondsSince1970() }

    /// The name of the store in messages: the disk or the database.
    var store: String { sharedOutbox == nil ? "disk" : "database" }

    /// The remedy for an operator while pushes cannot be stored; nil while they can.
    var outboxAction: String? { outboxHealth.current.problemKind?.action(at: configuration.data) }

    /// Records and logs the result of a write to the outbox; nil for a success.
    func recordOutbox(_ error: OutboxError?, hasPushes: Bool = false) {
        let now = now
        let change = outboxHealth.update { $0.record(error, hasPushes: hasPushes, at: now) }
        // Only the relay closes the outbox, when it stops; background tasks may still try to use it then.
        if error?.kind != .closed { logOutbox(change) }
    }

    /// Records and logs a commit that takes too long, by its start in milliseconds since 1970; nil
    /// when there is none any more.
    func recordStall(since start: Int64?) {
        let now = now
        let error = start.map { stallError(since: $0) }
        logOutbox(outboxHealth.update { $0.recordStall(error, since: start ?? now, at: now) })
    }

    /// Returns the error of a commit that takes too long, by its start in milliseconds since 1970.
    func stallError(since start: Int64) -> OutboxError {
        let kind: OutboxError.Kind = sharedOutbox == nil ? .unavailable : .unreachable
        let message = LoadGate.Refusal.storeDoesNotAnswer(since: start).message(store)
        return OutboxError(kind, message, isOutcomeUnknown: true)
    }

    /// Logs an error of the outbox that a phone gets no text of.
    func logPhoneError(_ error: OutboxError) {
        let now = now
        guard let omitted = outboxHealth.update({ $0.phoneErrors.take(at: now) }) else { return }
        log.warning(.installationsUnavailable, omitted: omitted, ["error": .string("\(error)")])
    }

    private func logOutbox(_ change: StoreHealth.Change?) {
        switch change {
        case .failed(let problem, let since, let omitted):
            log.error(
                .outboxUnavailable,
                omitted: omitted,
                [
                    "error": .string(problem), "since": .string(Timestamp.text(since)),
                    "action": outboxAction.map { .string($0) },
                ]
            )
        case .recovered: log.info(.outboxAvailable)
        case nil: break
        }
    }

    /// Requests and logs a shutdown; without a caller if another relay passes it on, which logs the caller.
    func requestShutdown(by caller: String?) {
        log.info(.drainRequested, ["caller": caller.map { .string($0) }])
        shutdownRequests.add()
    }
}

/// The owner of an event loop, which shuts the loop down once no part of the relay uses it any more.
final class LoopOwner: Sendable {
    let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        loop.shutdown()
    }
}

/// The requests of operators to shut the relay down, from any thread.
struct ShutdownRequests: Sendable {
    private let requests = AsyncStream.makeStream(of: Void.self)

    func add() { requests.continuation.yield() }

    /// Waits until a shutdown is requested; for one reader.
    func wait() async {
        for await _ in requests.stream { return }
    }
}
