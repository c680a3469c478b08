// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs code as a user who has no rights to other people's files, which the superuser's tests lack.
enum AnotherUser {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            // A thread of its own: on Linux the rights to files are each thread's, and end with it.
            Thread.detachNewThread {
                #if canImport(Glibc)
                    if geteuid() == 0, let found = dlsym(nil, "setfsuid") {
                        _ = unsafeBitCast(found, to: (@convention(c) (uid_t) -> CInt).self)(65_534)
                    }
                #endif
                continuation.resume(returning: body())
            }
        }
    }
}
