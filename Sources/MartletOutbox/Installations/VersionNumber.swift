// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The numeric components of a version, such as `2.10.1`, which is greater than `2.9`.
///
/// Components at the end that are zero do not count: `2`, `2.0` and `2.0.0` are equal.
package struct VersionNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let components: [UInt64]

    /// Parses the beginning of a text, up to the first character that is neither a digit nor a dot between digits.
    ///
    /// `2.1-beta (45)` is `2.1`. A component that is too large counts as the greatest one.
    ///
    /// - Parameter text: The text; nil is returned when it does not begin with a digit.
    package init?(_ text: String) {
        let beginning = text.utf8.prefix { $0.isDigit || $0 == UInt8(ascii: ".") }
        let parts = Substring(beginning).split(separator: ".", omittingEmptySubsequences: false)
        var components = parts.prefix { !$0.isEmpty }.map { UInt64($0) ?? .max }
        guard !components.isEmpty else { return nil }
        while components.count > 1, components.last == 0 { components.removeLast() }
        self.components = components
    }

    /// The components, separated by dots.
    package var description: String { components.map { String($0) }.joined(separator: ".") }

    /// Returns whether a version is less than another one.
    package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        left.components.lexicographicallyPrecedes(right.components)
    }
}
