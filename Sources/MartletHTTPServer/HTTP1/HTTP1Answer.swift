// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// The response of a handler of an ``HTTP1Listener``.
package enum HTTP1Answer: Sendable {
    /// A complete response.
    case whole(HTTPResponse)
    /// Status 200 with these fields, and a body whose pieces are sent as they become available.
    ///
    /// The server adds `x-accel-buffering`, and a comment at the start of a stream of server-sent events.
    case pieces(HTTPFields, any AsyncSequence<[UInt8], Never> & Sendable)
}

extension HTTPFields {
    /// The fields of a response in pieces, with the one that makes nginx and others pass on each piece at once.
    var unbuffered: HTTPFields {
        var fields = self
        fields.append("x-accel-buffering", "no")
        return fields
    }
}
