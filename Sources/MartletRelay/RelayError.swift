// SPDX-License-Identifier: Apache-2.0

/// A failure of a relay, with a message that names the setting, the file or the address.
package struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message, without a final period.
    package let description: String

    /// The remedy, if the stored data is damaged; otherwise nil, as the message has it.
    package let action: String?

    /// Creates an error.
    package init(_ description: String, action: String? = nil) {
        self.description = description
        self.action = action
    }
}
