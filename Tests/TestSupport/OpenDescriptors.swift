// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The open files and sockets of the current process, for exit tests that run out of them.
package enum OpenDescriptors {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// The number of open descriptors below a limit.
    package static func count(below limit: CInt = 4_096) -> Int {
        (0..<limit).count { fcntl($0, F_GETFD) >= 0 }
    }

    /// Lowers the process's limit and opens files until none is free.
    ///
    /// - Returns: The descriptors of the opened files.
    package static func exhaust(limit: CInt) async -> [CInt] {
        await openTimers()
        var bound = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        setrlimit(resource, &bound)
        var descriptors: [CInt] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            guard descriptor >= 0 else { return descriptors }
            descriptors.append(descriptor)
        }
    }

    /// Waits by each clock until their timers are open, which then stay open, so that later waits open none.
    ///
    /// A wait that is over before its timer is set opens none, so the waits become longer.
    private static func openTimers() async {
        for pause in [1, 10, 100, 1_000] {
            try? await Task.sleep(for: .milliseconds(pause), clock: .continuous)
            try? await Task.sleep(for: .milliseconds(pause), clock: .suspending)
            if timerCount >= 2 { return }
        }
    }

    /// The number of open timers; 0 where waits open no descriptors.
    private static var timerCount: Int {
        (0..<64).count {
            let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return name == "anon_inode:[timerfd]"
        }
    }
}
