// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A check for arguments and environment variables that are not valid UTF-8.
///
/// Swift replaces invalid bytes, which would change a password or a path without notice.
package enum ProcessInput {
    /// The replacement for invalid bytes.
    private static let replacement: Character = "\u{FFFD}"

    /// Checks the arguments of this process, and the variables whose names begin with a prefix.
    ///
    /// - Parameters:
    ///   - environment: The variables of this process as text.
    ///   - prefix: The beginning of the names of the variables to check.
    /// - Throws: ``UsageError`` for text that is not valid UTF-8; the error does not contain the text.
    package static func check(environment: [String: String], prefix: String) throws(UsageError) {
        for (index, argument) in CommandLine.arguments.enumerated() where argument.contains(replacement) {
            guard unsafe isValid(CommandLine.unsafeArgv[index]) else {
                throw UsageError("argument \(index) is not valid UTF-8")
            }
        }
        for (name, value) in environment where name.hasPrefix(prefix) && value.contains(replacement) {
            guard unsafe isValid(getenv(name)) else { throw UsageError("the variable \(name) is not valid UTF-8") }
        }
    }

    private static func isValid(_ text: UnsafeMutablePointer<CChar>?) -> Bool {
        unsafe text.map { unsafe String(validatingCString: $0) != nil } ?? true
    }
}
