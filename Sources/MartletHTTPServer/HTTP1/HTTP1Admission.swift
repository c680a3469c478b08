// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// The decision about a request, made from its head.
package enum HTTP1Admission: Sendable {
    /// Respond immediately without reading the body.
    case answer(HTTPResponse)
    /// Pass the request to a handler when its body is complete.
    case whole(HTTP1Listener.Handler, isAuthenticated: Bool = false)
    /// Pass the request to a handler immediately; the handler reads the body while it arrives.
    case streamed(HTTP1Listener.Handler, isAuthenticated: Bool = false)

    /// Whether the client has shown valid credentials, so that it is closed for lack of memory only after all clients
    /// that have not.
    var isAuthenticated: Bool {
        switch self {
        case .answer: false
        case .whole(_, let isAuthenticated), .streamed(_, let isAuthenticated): isAuthenticated
        }
    }
}
