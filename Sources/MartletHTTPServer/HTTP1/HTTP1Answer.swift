// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// The response of a handler of an ``HTTP1Listener``.
package enum HTTP1Answer: Sendable {
    /// A complete response.
    case whole(HTTPResponse)
    /// Status 200 with these fields, and a body whose pieces are sent as they become available.
    case pieces(HTTPFields, any AsyncSequence<[UInt8], Never> & Sendable)
}
