// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A client of systemd's notification protocol (sd_notify(3)), which sends one datagram per notification.
package struct ServiceManager: Sendable {
    /// The path of the socket; a leading `@` stands for the zero byte of an abstract socket's name.
    private let path: String
    /// The watchdog timeout, after which a service without notifications counts as hung; nil for none.
    package let watchdogTimeout: Duration?

    /// Creates a client for the service manager that started this process; nil when it expects no notifications.
    ///
    /// - Parameter environment: The environment variables `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    package init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        let appliesToProcess = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let time = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogTimeout = appliesToProcess && time > 0 ? .microseconds(time) : nil
    }

    /// Sends assignments, such as `READY=1`; waits up to ten seconds for a busy service manager.
    package func notify(_ assignments: String...) {
        send(assignments, within: 10)
    }

    /// Sends an assignment that is repeated soon, such as `WATCHDOG=1`, without waiting.
    package func notifyWithoutWaiting(_ assignment: String) {
        send([assignment], within: 0)
    }

    private func send(_ assignments: [String], within seconds: Int) {
        #if canImport(Glibc)
            let type = CInt(SOCK_DGRAM.rawValue)
        #else
            let type = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let isAbstract = path.hasPrefix("@")
        if isAbstract { withUnsafeMutableBytes(of: &address.sun_path) { $0[0] = 0 } }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        // The length of the address includes a terminating zero byte for a file name, but not for an abstract name.
        let length = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
        let text = Array(assignments.joined(separator: "\n").utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, text, text.count, seconds > 0 ? 0 : CInt(MSG_DONTWAIT), pointer, length)
            }
        }
    }

    /// Notifies the service manager that the service is reloading its configuration; `READY=1` ends the reload.
    package func notifyReloading() {
        notify("RELOADING=1", "MONOTONIC_USEC=\(uv_hrtime() / 1_000)")
    }
}
