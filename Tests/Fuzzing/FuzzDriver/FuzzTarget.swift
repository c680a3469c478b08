// SPDX-License-Identifier: Apache-2.0

import CFuzzer
import Synchronization

/// A fuzz target of libFuzzer; a conforming type is marked `@main`.
package protocol FuzzTarget: SendableMetatype {
    /// Processes an input, and traps on a wrong result.
    static func run(_ bytes: [UInt8])
}

extension FuzzTarget {
    /// Runs libFuzzer with the arguments of the program.
    package static func main() {
        current.withLock { $0 = Self.self }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        withUnsafeMutablePointer(to: &arguments) { pointer in
            pointer.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
                _ = LLVMFuzzerRunDriver(&count, $0) { data, size in
                    current.withLock { $0 }?.run(Array(UnsafeBufferPointer(start: data, count: size)))
                    return 0
                }
            }
        }
    }
}

/// The running target, a global because a C function pointer cannot capture it.
private let current = Mutex<(any FuzzTarget.Type)?>(nil)
