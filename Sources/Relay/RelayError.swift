/// Why a relay cannot do what it was told, in a sentence that names the setting, the file or the address.
package struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, without the final stop.
    package let description: String

    /// An error in words.
    package init(_ description: String) {
        self.description = description
    }
}
