// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The data that previews need besides pushes; every change is reported to the readers of events.
///
/// The actor runs on the event loop of the simulator.
actor PreviewStore {
    private nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop of the simulator.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let inbox: PushInbox
    /// The stored data.
    private(set) var data = PreviewData()

    /// Creates an empty store that reports its changes to an inbox.
    init(for inbox: PushInbox, on loop: EventLoop) {
        self.inbox = inbox
        self.loop = loop
    }

    /// Changes the data.
    func update<Value: Sendable>(
        _ change: @Sendable (inout PreviewData) throws(SimulatorError) -> Value
    ) throws(SimulatorError) -> Value {
        let value = try change(&data)
        inbox.assumeIsolated { $0.report(.previewsChanged) }
        return value
    }
}
