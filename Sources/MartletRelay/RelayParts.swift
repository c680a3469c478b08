// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletOutbox
internal import MartletTransport

/// The parts of a relay, all on one event loop, so that an `await` between them does not switch threads.
///
/// Pushes flow in one direction: from the ``RelayServer`` and the JSON API to the ``Intake``, which stores them, to the
/// ``Dispatcher``, which delivers them and reports their outcomes to the intake. The ``JobExpander`` stores those of
/// jobs, and the ``SurfaceRunner`` those of surfaces. The ``RelayMonitor`` reads the others, and ``RelayMaintenance``
/// does their periodic work.
struct RelayParts: Sendable {
    let server: RelayServer
    let intake: Intake
    let dispatcher: Dispatcher
    let webhooks: WebhookSender
    let jobs: JobExpander
    let surfaces: SurfaceRunner
    let registry: InstallationRegistry
    let monitor: RelayMonitor
    let maintenance: RelayMaintenance
    let outbox: any OutboxStore
    let clock: WallClock
    let shutdownRequests: ShutdownRequests
    let longRequests: LongRequests

    /// Creates parts that are idle until they are started.
    init(_ context: RelayContext, _ callers: Callers) {
        dispatcher = Dispatcher(context)
        intake = Intake(context, dispatcher: dispatcher)
        server = RelayServer(context, callers, intake: intake, dispatcher: dispatcher)
        webhooks = WebhookSender(context)
        jobs = JobExpander(context, dispatcher: dispatcher)
        surfaces = SurfaceRunner(context, dispatcher: dispatcher)
        registry = InstallationRegistry(context)
        monitor = RelayMonitor(
            context,
            server: server,
            intake: intake,
            dispatcher: dispatcher,
            webhooks: webhooks,
            jobs: jobs,
            surfaces: surfaces
        )
        maintenance = RelayMaintenance(context, monitor)
        outbox = context.outbox
        clock = context.clock
        shutdownRequests = context.shutdownRequests
        longRequests = context.longRequests
    }

    /// The time in milliseconds since 1970.
    var now: Int64 { clock.millisecondsSince1970() }
}
