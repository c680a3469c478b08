// SPDX-License-Identifier: Apache-2.0

internal import Martlet

#if ServiceLifecycleSupport
    public import ServiceLifecycle

    extension SimulatedAPNs: Service {}
#endif

extension SimulatedAPNs {
    /// Waits until the task is cancelled, then stops the simulator.
    ///
    /// With the package trait `ServiceLifecycleSupport`, the simulator is a `Service`, and this function also returns
    /// after a graceful shutdown.
    public func run() async {
        await serviceShutdown()
        await stop()
    }
}
