/// Names a place in a JSON document (RFC 6901).
package enum JSONPointer {
    /// The pointer that leads through members of these names.
    package static func path(_ names: [String]) -> String {
        names.map { "/" + escaped($0) }.joined()
    }

    /// A name as part of a pointer (RFC 6901 §3).
    private static func escaped(_ name: String) -> String {
        name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
