// SPDX-License-Identifier: Apache-2.0

/// Pointers to values in a JSON document (RFC 6901).
package enum JSONPointer {
    package static func path(_ names: [String]) -> String {
        names.map { "/" + escaped($0) }.joined()
    }

    /// Returns the pointer to a member for a message, or to its parent if the name may be a secret.
    package static func shownPath(_ names: [String]) -> String {
        path(Array(names.prefix { ShownValue($0).isWhole }))
    }

    /// Escapes a name for use in a pointer (RFC 6901 §3).
    private static func escaped(_ name: String) -> String {
        name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
