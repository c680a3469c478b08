internal import CLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Tells systemd how a service is (sd_notify(3)): a datagram for each piece of news, which is all of the protocol.
package struct ServiceManager: Sendable {
    /// The socket's name; a leading `@` stands for the zero byte of an abstract one.
    private let path: String
    /// How long the service may be silent before it counts as hung; nil for as long as it likes.
    package let patience: Duration?

    /// The service manager that started this process; nil when none did that wants to be told.
    ///
    /// - Parameter environment: The variables that it has set, `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    package init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let time = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        patience = isMeant && time > 0 ? .microseconds(time) : nil
    }

    /// Tells assignments, such as `READY=1`; a manager that is busy has ten seconds to take them.
    package func tell(_ assignments: String...) {
        send(assignments, within: 10)
    }

    /// Tells what is told again soon, such as `WATCHDOG=1`, without waiting for anybody.
    package func mention(_ assignment: String) {
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
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let isAbstract = path.hasPrefix("@")
        if isAbstract { withUnsafeMutableBytes(of: &address.sun_path) { $0[0] = 0 } }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        // The name of an abstract socket is as long as it says, that of a file ends with a zero byte.
        let length = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
        let text = Array(assignments.joined(separator: "\n").utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, text, text.count, seconds > 0 ? 0 : CInt(MSG_DONTWAIT), pointer, length)
            }
        }
    }

    /// Tells that the service reads its configuration anew; `READY=1` says that it has.
    package func tellReloading() {
        tell("RELOADING=1", "MONOTONIC_USEC=\(uv_hrtime() / 1_000)")
    }
}
