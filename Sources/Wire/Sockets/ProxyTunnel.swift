#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A proxy that passes connections on (RFC 9110 §9.3.6, CONNECT).
package struct HTTPProxy: Sendable, Hashable {
    /// A host name or an address literal.
    package var host: String
    /// The port.
    package var port: UInt16
    /// The value of `Proxy-Authorization`; nil for none.
    package var authorization: String?

    /// A proxy from its parts.
    ///
    /// - Parameters:
    ///   - host: A host name or an address literal.
    ///   - port: The port.
    ///   - user: The name to give with the basic scheme (RFC 7617); nil to give none.
    ///   - password: The password that belongs to it.
    package init(host: String, port: UInt16, user: String? = nil, password: String = "") {
        self.host = host
        self.port = port
        authorization = user.map { "Basic " + Data("\($0):\(password)".utf8).base64EncodedString() }
    }
}

/// Asks a proxy for a connection to a host, over a socket that is connected to the proxy; lives on its loop.
final class ProxyTunnel {
    /// Bytes of an answer that are read before it counts as none.
    private static let answerLimit = 16 * 1024

    private let exchange: TransportExchange
    private let proxyName: String
    private var verdict: WireError?

    /// A tunnel that has not been asked for yet.
    ///
    /// - Parameters:
    ///   - socket: A socket connected to the proxy.
    ///   - proxy: The proxy.
    ///   - host: The host to reach through it.
    ///   - port: The port to reach.
    /// - Throws: ``WireError`` of kind `.system` without memory.
    init(over socket: Box<Socket>, to proxy: HTTPProxy, host: String, port: UInt16) throws(WireError) {
        proxyName = "\(proxy.host):\(proxy.port)"
        let authority = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        var lines = ["CONNECT \(authority) HTTP/1.1", "Host: \(authority)"]
        if let authorization = proxy.authorization { lines.append("Proxy-Authorization: \(authorization)") }
        exchange = try TransportExchange(
            over: socket,
            tls: nil,
            peerName: "the proxy " + proxyName,
            request: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        )
    }

    /// Asks; `completion` is told once, with nil when the tunnel is there.
    func start(_ socket: Box<Socket>, on loop: EventLoop, completion: @escaping (WireError?) -> Void) {
        exchange.start(
            socket,
            on: loop,
            until: { [unowned self] answer, _ in isEnough(answer) },
            completion: { [unowned self] error in completion(error ?? verdict) }
        )
    }

    /// Gives up without a word.
    func cancel() {
        exchange.cancel()
    }

    private func isEnough(_ answer: [UInt8]) -> Bool {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else {
            guard answer.count > ProxyTunnel.answerLimit else { return false }
            verdict = WireError(.protocolViolation, "the proxy \(proxyName) does not answer as one")
            return true
        }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
        verdict = problem(with: head, hasMore: end.upperBound < answer.count)
        return true
    }

    /// Why the answer is none that opens the tunnel; nil when it does.
    private func problem(with head: String, hasMore: Bool) -> WireError? {
        let line = head.prefix { $0 != "\r\n" }
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].count == 3 else {
            return WireError(.protocolViolation, "the proxy \(proxyName) does not answer as one")
        }
        // The server says nothing before it is spoken to: what comes with the answer is not from it.
        guard words[1].hasPrefix("2"), !hasMore else {
            return WireError(.connectionRefused, "the proxy \(proxyName) answered \(line)")
        }
        return nil
    }
}
