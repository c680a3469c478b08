// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The encoding of server-sent events (WHATWG HTML, section 9.2).
package enum ServerSentEvent {
    /// The media type of a stream of events.
    package static let contentType = "text/event-stream"
    /// A comment that a stream begins with: some proxies pass on the head of a response with the first bytes of a body.
    static let opening = Array(":\n\n".utf8)
    /// A comment that is sent at intervals, so that idle connections are not taken for closed ones.
    package static let keepAlive = Array(": still there\n\n".utf8)

    /// Returns the bytes of an event.
    ///
    /// - Parameters:
    ///   - name: The event's type.
    ///   - value: The event's data.
    ///   - id: The event's identifier, which a reconnecting reader sends as the last one that it has received; nil for
    ///     none.
    /// - Returns: The bytes.
    package static func bytes(_ name: String, _ value: JSONValue, id: String? = nil) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        // Encoded JSON has no line breaks.
        return Array("event: \(name)\n\(id)data: ".utf8) + value.encoded() + Array("\n\n".utf8)
    }
}
