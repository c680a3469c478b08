// SPDX-License-Identifier: Apache-2.0

package import Martlet
internal import MartletCore
package import MartletOutbox
internal import MartletTransport

/// A push relay: accepts pushes from any client, stores them and delivers each to Apple without losing any.
///
/// The module `MartletRelay` is the service that a team runs between its back ends and Apple. It holds the connections
/// and the signing keys, forwards payloads without interpreting them, and stores the outcome of each push. It is a
/// server and a client of the APNs protocol, with an ``OutboxStore`` between them.
///
/// The relay consists of ``RelayParts`` on one event loop, which have their own state; decisions are made by values
/// without I/O. The outbox and the client of each lane have threads of their own.
package actor PushRelay {
    private nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var context: RelayContext
    nonisolated let parts: RelayParts
    private var isStopping = false

    private init(
        _ configuration: RelayConfiguration,
        _ outbox: any OutboxStore,
        clock: WallClock,
        log: Logger
    ) throws(RelayError) {
        let callers = try Callers(configuration)
        let context = try RelayContext(configuration, outbox, clock: clock, log: log)
        self.context = context
        loop = context.loop
        parts = RelayParts(context, callers)
    }

    /// Starts a relay, which listens and delivers when this returns, until ``stop(within:)``.
    ///
    /// - Throws: ``RelayError``, which names the setting or the file that is wrong.
    package static func start(
        _ configuration: RelayConfiguration,
        clock: WallClock = .system,
        log: Logger = .silent
    ) async throws(RelayError) -> PushRelay {
        try configuration.check()
        let outbox = try await configuration.openOutbox()
        return try await start(configuration, over: outbox, clock: clock, log: log)
    }

    static func start(
        _ configuration: RelayConfiguration,
        over outbox: any OutboxStore,
        clock: WallClock = .system,
        log: Logger = .silent
    ) async throws(RelayError) -> PushRelay {
        let relay = try PushRelay(configuration, outbox, clock: clock, log: log)
        try await relay.begin()
        return relay
    }

    private func begin() async throws(RelayError) {
        let (configuration, parts) = (context.configuration, parts)
        let clients = try await parts.dispatcher.clients.replacements(for: configuration, in: context)
        let exporter = try configuration.telemetry.map { (settings) throws(RelayError) in
            try TelemetryExporter(settings, context, for: parts.monitor)
        }
        await parts.dispatcher.start(clients) { [weak intake = parts.intake] push in
            intake?.assumeIsolated { $0.recordEnd(of: push) }
        } reportSessionResults: { [weak surfaces = parts.surfaces] in
            surfaces?.assumeIsolated { $0.wake() }
        }
        try await parts.server.listen(for: RelayAPI(parts))
        await parts.maintenance.checkOutbox()
        await parts.maintenance.recordRunning()
        // Before the paused lanes are read, which starts the delivery.
        await parts.dispatcher.syncOutages()
        await parts.dispatcher.syncLanes()
        await parts.maintenance.syncProblems()
        await parts.intake.watchOtherRelays()
        logStart()
        await parts.monitor.start(exporter)
        await parts.maintenance.start()
        await parts.jobs.start()
        await parts.surfaces.start()
    }

    private func logStart() {
        let version = JSONValue.string(MartletVersion.current)
        let apps = JSONValue.whole(context.configuration.apps.count)
        guard let problem = context.outboxHealth.current.problem else {
            return context.log.info(.relayStarted, ["version": version, "apps": apps])
        }
        context.log.error(
            .relayStartedWithoutOutbox,
            [
                "version": version, "apps": apps, "error": .string(problem),
                "action": context.outboxAction.map { .string($0) },
            ]
        )
    }

    /// Shuts down: accepts no more pushes, waits for the results of those in flight, stores them and closes the outbox.
    ///
    /// - Parameter limit: The maximum time. Pushes without an answer by then are sent again after the next start.
    package func stop(within limit: Duration = .seconds(20)) async {
        guard !isStopping else { return }
        isStopping = true
        await parts.monitor.drain()
        await parts.maintenance.drain()
        await parts.jobs.drain()
        await parts.surfaces.drain()
        let inFlight = await parts.dispatcher.inFlight
        context.log.info(.shuttingDown, ["in-flight": .whole(inFlight)])
        await parts.intake.drain()
        await parts.server.drain(within: limit)
        await parts.dispatcher.drain(within: limit)
        await parts.intake.finish()
        await parts.server.close()
        await parts.dispatcher.close()
        await parts.maintenance.recordShutdown()
        let isIdle = await parts.dispatcher.isIdle
        await context.outbox.close(isInOrder: isIdle)
        await parts.monitor.close()
        let unanswered = await parts.dispatcher.inFlight
        context.log.info(.relayStopped, ["unanswered": .whole(unanswered)])
    }

    /// Waits until a shutdown is requested; for one reader.
    package nonisolated func waitForShutdownRequest() async {
        await parts.shutdownRequests.wait()
    }

    // MARK: Reloading

    /// Applies another configuration without interrupting anything.
    ///
    /// Callers, apps, their keys, rates and connections, the certificate, times and the log level change. A removed app
    /// accepts no more pushes; its waiting pushes are still sent. Addresses and storage change only with a restart.
    ///
    /// - Parameter new: The configuration.
    /// - Throws: ``RelayError``; the previous configuration stays in use then.
    package func reload(_ new: RelayConfiguration) async throws(RelayError) {
        do throws(RelayError) {
            try await apply(new)
        } catch {
            await recordRejectedReload(error)
            throw error
        }
        await parts.monitor.recordReload(nil)
    }

    /// Records that a new configuration could not be read or applied, for the status and the metrics.
    package func recordRejectedReload(_ error: any Error) async {
        await parts.monitor.recordReload("\(error)")
    }

    private func apply(_ new: RelayConfiguration) async throws(RelayError) {
        try new.check()
        let callers = try Callers(new)
        let clients = try await parts.dispatcher.clients.replacements(for: new, in: context)
        let tls = context.configuration.identity == nil ? nil : try new.serverTLS()
        try await useSealingKeys(of: new)
        let (old, log) = (context.configuration, context.log)
        for setting in new.settingsThatNeedRestart(since: old) {
            log.warning(.restartRequired, ["setting": .string(setting)])
        }
        context.configuration = new.keepingFixedSettings(of: old)
        context.log = log.at(new.logLevel)
        let revoked = RevokedAccess(from: old, to: new)
        log.revoked(revoked)
        await parts.intake.use(context, revoking: revoked, callers: Set(callers.appsByCaller.keys))
        await parts.server.use(context, callers, tls)
        await parts.dispatcher.use(context, clients)
        await parts.webhooks.use(context)
        await parts.jobs.use(context)
        await parts.surfaces.use(context)
        log.info(.configurationReloaded, ["apps": .whole(new.apps.count), "callers": .whole(new.callers.count)])
        await parts.monitor.use(context)
        await parts.maintenance.use(context)
    }

    /// Replaces the keys of a sealed outbox, of which the first seals it from now on.
    private func useSealingKeys(of new: RelayConfiguration) async throws(RelayError) {
        guard let keys = new.sealingKeys, keys != context.configuration.sealingKeys,
            let sealed = context.outbox as? SealedOutbox
        else { return }
        do throws(OutboxError) {
            try await sealed.use(keys)
        } catch {
            throw RelayError("sealing-keys cannot be replaced: \(error)")
        }
    }

    // MARK: State

    /// The ports that serve the APNs protocol, by environment.
    package var ports: [PushEnvironment: UInt16] {
        get async { await parts.server.ports }
    }

    /// The port of the JSON API; nil when it is not configured.
    package var httpPort: UInt16? {
        get async { await parts.server.httpPort }
    }

    /// The status in one line.
    package var summary: String {
        get async { await parts.monitor.summary }
    }

    /// Calls an action on the relay's event loop now and after each interval; the calls stop when the event loop hangs.
    package func callRepeatedly(every interval: Duration, _ action: @escaping @Sendable () -> Void) {
        action()
        loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { $0.callRepeatedly(every: interval, action) }
        }
    }
}
