// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard input of the program.
package enum StandardInput {
    /// Reads all bytes up to the end of the input.
    ///
    /// - Throws: ``UsageError`` with the system's reason if the input cannot be read.
    package static func bytes() throws(UsageError) -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(0, $0.baseAddress, $0.count) }
            let reason = errno
            if count == 0 { return all }
            guard count > 0 || reason == EINTR else {
                let text = unsafe String(cString: strerror(reason))
                throw UsageError("standard input cannot be read: \(text)")
            }
            all += piece[..<max(0, count)]
        }
    }
}
