/// What a person typed wrong, in words for that person.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    /// What is wrong and, where it can be guessed, what was meant.
    package let description: String

    /// An error from a sentence without the final stop.
    package init(_ description: String) {
        self.description = description
    }
}
