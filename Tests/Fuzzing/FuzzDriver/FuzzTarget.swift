import CFuzzer
import Synchronization

/// What libFuzzer throws bytes at: a type that says `@main` and looks at them.
package protocol FuzzTarget: SendableMetatype {
    /// Does with the bytes what a program would, and traps where that comes out wrong.
    static func look(at bytes: [UInt8])
}

extension FuzzTarget {
    /// Lets libFuzzer run the program, with the arguments it has been given.
    package static func main() {
        current.withLock { $0 = Self.self }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        withUnsafeMutablePointer(to: &arguments) { pointer in
            pointer.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
                _ = LLVMFuzzerRunDriver(&count, $0) { data, size in
                    current.withLock { $0 }?.look(at: Array(UnsafeBufferPointer(start: data, count: size)))
                    return 0
                }
            }
        }
    }
}

/// A function that C calls cannot bring its target along.
private let current = Mutex<(any FuzzTarget.Type)?>(nil)
