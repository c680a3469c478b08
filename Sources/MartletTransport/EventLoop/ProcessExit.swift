// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A guard that keeps event loops from using libuv's process-wide state while the process exits.
///
/// `exit` runs libuv's destructor while other threads continue to run. The destructor frees the thread pool and the
/// pipe of the signal handlers, and libuv aborts the process when a loop uses either of them afterwards.
enum ProcessExit {
    private static let hasBegun = Mutex(false)

    /// The registration of the exit handler; `atexit` handlers run before the destructors of libraries.
    ///
    /// The first loop registers the handler, because one that is registered during an exit runs after the destructors.
    private static let registration: Void = {
        atexit { ProcessExit.hasBegun.withLock { $0 = true } }
    }()

    /// Runs `body` and delays an exit until it has returned; returns nil without running it when the process is
    /// exiting.
    static func ifNotBegun<Result>(_ body: () -> Result) -> Result? {
        _ = registration
        return hasBegun.withLock { hasBegun in hasBegun ? nil : body() }
    }
}
