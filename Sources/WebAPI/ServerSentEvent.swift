package import APNs

/// Events in the words of server-sent events (WHATWG HTML, section 9.2).
package enum ServerSentEvent {
    /// What is sent now and then so that nobody takes a silence for an end.
    package static let sign = Array(": still there\n\n".utf8)

    /// The bytes of an event.
    ///
    /// - Parameters:
    ///   - name: What listeners know it by.
    ///   - value: What it says.
    ///   - id: What a reader that comes back names as the last that it has seen; nil for none.
    /// - Returns: The bytes.
    package static func bytes(_ name: String, _ value: JSONValue, id: String? = nil) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        // Encoded JSON has no line breaks.
        return Array("event: \(name)\n\(id)data: ".utf8) + value.encoded() + Array("\n\n".utf8)
    }
}
