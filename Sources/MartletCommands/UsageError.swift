// SPDX-License-Identifier: Apache-2.0

/// An error in the usage of the program, with a message for the user.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    /// The error and, if it can be guessed, the intended name.
    package let description: String

    /// Creates an error from a sentence without the final stop.
    package init(_ description: String) {
        self.description = description
    }
}
