// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The flags with which tests write to sockets.
package enum SendFlags {
    /// The flag that makes a write to a closed connection an error instead of a signal; on macOS the signal is ignored.
    package static let noSignal: CInt = {
        #if canImport(Glibc)
            return CInt(MSG_NOSIGNAL)
        #else
            signal(SIGPIPE, SIG_IGN)
            return 0
        #endif
    }()
}
