#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The number of files and sockets that the process may have open.
package enum DescriptorLimit {
    /// The most that ``raise()`` asks for: macOS refuses more for want of a limit.
    private static let most: rlim_t = 1 << 20

    /// The limit now.
    package static var current: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit as far as the process may.
    ///
    /// Shells and service managers start programs with a low limit for the sake of programs that use `select`.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        setrlimit(resource, &limit)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
