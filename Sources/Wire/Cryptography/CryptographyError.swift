/// Why a key or certificate cannot be used, in a sentence without the final stop.
package struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
