// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A detached thread without signals, on which an event loop runs.
final class LoopThread {
    private let body: () -> Void

    private init(_ body: @escaping () -> Void) {
        self.body = body
    }

    /// Runs `body` on a new thread; returns false when the thread cannot be created.
    static func start(_ body: @escaping () -> Void) -> Bool {
        let context = Unmanaged.passRetained(LoopThread(body)).toOpaque()
        #if canImport(Darwin)
            var thread: uv_thread_t?
        #else
            var thread = uv_thread_t()
        #endif
        let status = uv_thread_create(
            &thread,
            { context in
                guard let context else { return }
                LoopThread.blockSignals()
                Unmanaged<LoopThread>.fromOpaque(context).takeRetainedValue().body()
            },
            context
        )
        guard status == 0 else {
            Unmanaged<LoopThread>.fromOpaque(context).release()
            return false
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
        return true
    }

    /// An identifier of the calling thread that can be compared.
    static var currentID: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }

    /// Blocks signals on the calling thread: a write to a closed connection must return an error instead of ending the
    /// process with `SIGPIPE` (on macOS, the sockets have an option for that), and signals that the program waits for
    /// must be delivered to its own threads.
    private static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPROF] { sigdelset(&all, signal) }
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
