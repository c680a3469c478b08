/// A failure of a relay, with a message that names the setting, the file or the address.
package struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message, without a final period.
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
        self.description = description
    }
}
