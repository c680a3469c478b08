// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycleSupport
    public import ServiceLifecycle

    extension PushClient: Service {}
#endif

extension PushClient {
    /// Waits until the task is cancelled, then closes the client with ``close(within:)``.
    ///
    /// Pushes are sent whether it runs or not; it ties the client to a task of the server. With the package trait
    /// `ServiceLifecycleSupport`, the client is a `Service`, and this function also returns after a graceful shutdown.
    /// Add the client to the `ServiceGroup` before the services that send with it, so that it closes after them.
    public func run() async {
        await serviceShutdown()
        await close()
    }
}

/// Waits until the task is cancelled, or the service group that runs it shuts down.
package func serviceShutdown() async {
    #if ServiceLifecycleSupport
        // Throws when the task is cancelled, which ends the wait, too.
        try? await gracefulShutdown()
    #else
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        continuation.finish()
    #endif
}
