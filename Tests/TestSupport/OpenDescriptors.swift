// SPDX-License-Identifier: Apache-2.0

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
        // The first wait by each clock opens a descriptor that stays open, also a wait of the testing library.
        try? await Task.sleep(for: .milliseconds(1), clock: .continuous)
        try? await Task.sleep(for: .milliseconds(1), clock: .suspending)
        var bound = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        setrlimit(resource, &bound)
        var descriptors: [CInt] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            guard descriptor >= 0 else { return descriptors }
            descriptors.append(descriptor)
        }
    }
}
