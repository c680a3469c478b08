// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The limit on the number of open files and sockets of the process.
package enum DescriptorLimit {
    /// The highest limit that ``raise()`` requests; macOS rejects higher ones even without a hard limit.
    private static let most: rlim_t = 1 << 20

    package static var current: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit as far as the process is permitted to.
    ///
    /// Shells and service managers start programs with a low limit for compatibility with programs that use `select`.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        setrlimit(resource, &limit)
    }

    /// Returns whether the process can open this number of files or sockets at this moment.
    static func hasRoom(for count: Int) -> Bool {
        var descriptors: [CInt] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for _ in 0..<count {
            // A program that is started at this moment does not inherit it.
            let descriptor = open("/", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            descriptors.append(descriptor)
        }
        return true
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
