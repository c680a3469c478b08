// SPDX-License-Identifier: Apache-2.0

/// A request to an HTTP proxy for a tunnel, over a socket that is connected to the proxy; used only on its loop.
final class ProxyTunnel {
    /// The maximum size of the proxy's response in bytes.
    private static let answerLimit = 16 * 1024

    private let exchange: TransportExchange
    private let proxyName: String
    private var failure: TransportError?

    /// Creates a tunnel, which ``start(_:on:completion:)`` requests.
    ///
    /// - Parameters:
    ///   - socket: A socket connected to the proxy.
    ///   - proxy: The proxy.
    ///   - host: The target host.
    ///   - port: The target port.
    /// - Throws: ``TransportError`` of kind `.system` when memory cannot be allocated.
    init(over socket: Reference<Socket>, to proxy: HTTPProxy, host: String, port: UInt16) throws(TransportError) {
        proxyName = "\(proxy)"
        let authority = "\(SocketAddress.bracketed(host)):\(port)"
        var lines = ["CONNECT \(authority) HTTP/1.1", "Host: \(authority)"]
        if let authorization = proxy.authorization { lines.append("Proxy-Authorization: \(authorization)") }
        exchange = try TransportExchange(
            over: socket,
            tls: nil,
            peerName: "the proxy " + proxyName,
            request: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8),
            // The next bytes are the target's, which may arrive together with the proxy's response.
            readsAhead: false
        )
    }

    /// Requests the tunnel; `completion` is called once, with nil when the tunnel is established.
    func start(_ socket: Reference<Socket>, on loop: EventLoop, completion: @escaping (TransportError?) -> Void) {
        exchange.start(
            socket,
            on: loop,
            until: { [unowned self] answer, _ in isEnough(answer) },
            completion: { [unowned self] error in completion(error ?? failure) }
        )
    }

    /// Cancels the request without calling the completion handler.
    func cancel() {
        exchange.cancel()
    }

    private func isEnough(_ answer: [UInt8]) -> Bool {
        guard answer.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
            guard answer.count > ProxyTunnel.answerLimit else { return false }
            failure = TransportError(.protocolViolation, "the proxy \(proxyName) did not send an HTTP/1 response")
            return true
        }
        failure = problem(with: String(decoding: answer, as: UTF8.self))
        return true
    }

    /// Returns the reason why the head of the response does not establish the tunnel; nil when it does.
    private func problem(with head: String) -> TransportError? {
        let line = head.prefix { $0 != "\r\n" }
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].count == 3 else {
            return TransportError(.protocolViolation, "the proxy \(proxyName) did not send an HTTP/1 response")
        }
        // A proxy may repeat the request and its password in the reason phrase, which is therefore not shown.
        guard words[1].hasPrefix("2") else {
            return TransportError(.connectionRefused, "the proxy \(proxyName) answered \(words[0]) \(words[1])")
        }
        return nil
    }
}
