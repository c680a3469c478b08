internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Keeps event loops away from what libuv shares between loops once the process exits.
///
/// `exit` runs libuv's destructor while other threads go on. It takes down the thread pool and the pipe of the signal
/// handlers, and libuv aborts the process when a loop uses either of them afterwards.
enum ProcessExit {
    private static let hasBegun = Mutex(false)

    /// Handlers of `atexit` run before the destructors of libraries.
    private static let registration: Void = {
        atexit { ProcessExit.hasBegun.withLock { $0 = true } }
    }()

    /// Runs `body`, and lets an exit wait until it has returned; nil when the process exits already.
    static func ifNotBegun<Result>(_ body: () -> Result) -> Result? {
        _ = registration
        return hasBegun.withLock { hasBegun in hasBegun ? nil : body() }
    }
}
