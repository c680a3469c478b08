#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard input of the program.
package enum StandardInput {
    /// Reads all bytes up to the end of the input.
    package static func bytes() -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(0, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { return all }
            all += piece[..<max(0, count)]
        }
    }
}
