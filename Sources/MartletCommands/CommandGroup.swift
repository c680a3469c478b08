// SPDX-License-Identifier: Apache-2.0

/// Commands that share the first words of their names, as `live start` and `live end` do.
package struct CommandGroup: Sendable {
    /// The shared words.
    package let name: String
    /// The purpose, in a line.
    package let summary: String

    /// Creates a group.
    package init(_ name: String, _ summary: String) {
        self.name = name
        self.summary = summary
    }
}
