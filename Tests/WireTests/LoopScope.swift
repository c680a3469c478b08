import Wire

/// Lets a test run code on an event loop and read what came of it.
actor LoopScope {
    nonisolated let loop: EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(clock: ManualClock? = nil) throws {
        loop = try EventLoop(clock: clock)
    }

    func run<Value: Sendable>(_ body: (EventLoop) throws -> Value) rethrows -> Value {
        try body(loop)
    }

    deinit {
        loop.shutdown()
    }
}
