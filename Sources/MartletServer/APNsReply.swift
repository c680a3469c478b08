// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// The reply to one request, sent once; used only on the listener's loop.
package struct APNsReply {
    private let connection: HTTP2Connection
    private let stream: HTTP2Stream

    init(_ connection: HTTP2Connection, _ stream: HTTP2Stream) {
        self.connection = connection
        self.stream = stream
    }

    /// The identifier of the request's stream.
    package var streamID: Int32 { stream.id }

    /// A number of the owner, with which the end of the stream is reported; 0 until it is set.
    package var tag: Int {
        get { stream.tag }
        nonmutating set { stream.tag = newValue }
    }

    /// Resets the request's stream without a response.
    package func reset(_ code: HTTP2ErrorCode) {
        connection.reset(stream, code)
    }

    /// Sends a response that is not in the form of APNs; has no effect when the client has disconnected.
    package func send(_ response: HTTPResponse) {
        connection.answer(stream, with: response)
    }

    /// Sends a response; has no effect when the client has disconnected.
    package func send(_ response: APNsResponse) {
        connection.answer(stream, with: response.http)
    }
}
