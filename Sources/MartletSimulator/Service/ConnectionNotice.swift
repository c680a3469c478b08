// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletTransport

/// A message about a connection whose requests are not recorded as pushes.
package struct ConnectionNotice: Sendable, Hashable {
    /// The severity of the event in one word, for people.
    package let label: String
    /// The message, in a sentence without the final stop.
    package let text: String
    /// The notice as JSON.
    package let json: JSONValue

    /// Creates the notice about streams that were refused because the client had too many open.
    init(streamsRefused count: Int, on connection: Int) {
        label = "refused"
        text = "\(count.counted("stream")) of connection \(connection): it had as many open as allowed"
        json = ["connection": .integer(connection), "streams-refused": .integer(count)]
    }

    /// Creates the notice about a client that failed to connect; nil for an error that needs no action.
    ///
    /// - Parameters:
    ///   - connection: The number of the connection.
    ///   - peer: The client's address with its port.
    ///   - error: The error that has ended the connection.
    ///   - authorityFile: The file of the certificate that clients must trust; nil for a port without TLS.
    init?(connection: Int, from peer: String, failed error: TransportError, authorityFile: String?) {
        let advice: String
        switch error.kind {
        case .certificateRejected:
            advice = "make it trust \(authorityFile ?? ""), as with --ca of martlet send"
        case .tlsFailed, .notHTTP2:
            advice =
                authorityFile != nil
                ? "connect with https:// and HTTP/2, or start the simulator with --h2c"
                : "connect with http:// and HTTP/2 with prior knowledge, or start the simulator without --h2c"
        default: return nil
        }
        label = "failed"
        let problem = "\(error.description.replacing(peer, with: "the client")): \(advice)"
        text = "connection \(connection) from \(peer): \(problem)"
        json = ["connection": .integer(connection), "peer": .string(peer), "connection-failed": .string(problem)]
    }
}

/// The limit of notices about failed connections: one for each client host and kind of error in ten seconds.
struct NoticeLimit {
    /// The interval in milliseconds.
    private static let interval: Int64 = 10_000

    private var last = RecentValues<String, Int64>(capacity: 1_000)

    /// Returns whether another notice is admitted at a time in milliseconds since 1970, and counts it.
    mutating func admits(_ error: TransportError, from peer: String, at now: Int64) -> Bool {
        let key = "\(error.kind) \(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)])"
        if let time = last[key], (0..<NoticeLimit.interval).contains(now - time) { return false }
        last.updateValue(now, forKey: key)
        return true
    }
}
