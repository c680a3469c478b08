// SPDX-License-Identifier: Apache-2.0

/// The limits of a session for its peer.
package struct HTTP2Limits: Sendable {
    /// The maximum number of streams that the peer may have open at once.
    package var concurrentStreams: UInt32
    /// The maximum size in bytes of a message's body; a longer one is truncated and marked.
    package var bodyBytes: Int
    /// The maximum size of a message's fields (RFC 9113 §6.5.2), sent to the peer as SETTINGS_MAX_HEADER_LIST_SIZE.
    ///
    /// A request that exceeds it is answered with status 431, a request with more than twice as much ends the
    /// connection, and the stream of a response that exceeds it is reset.
    package var fieldBytes: Int

    /// Creates limits with these values.
    package init(concurrentStreams: UInt32, bodyBytes: Int, fieldBytes: Int) {
        self.concurrentStreams = concurrentStreams
        self.bodyBytes = bodyBytes
        self.fieldBytes = fieldBytes
    }
}
