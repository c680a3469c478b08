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

    private let transport: Box<Transport>
    private let proxyName: String
    private var request: [UInt8]
    private var answer: [UInt8] = []
    private var watcher: SocketWatcher?
    private var completion: ((WireError?) -> Void)?

    /// A tunnel that has not been asked for yet.
    ///
    /// - Parameters:
    ///   - socket: A socket connected to the proxy.
    ///   - proxy: The proxy.
    ///   - host: The host to reach through it.
    ///   - port: The port to reach.
    /// - Throws: ``WireError`` of kind `.system` without memory.
    init(over socket: Box<Socket>, to proxy: HTTPProxy, host: String, port: UInt16) throws(WireError) {
        transport = Box(try Transport(socket, tls: nil, peerName: proxy.host))
        proxyName = "\(proxy.host):\(proxy.port)"
        let authority = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        var lines = ["CONNECT \(authority) HTTP/1.1", "Host: \(authority)"]
        if let authorization = proxy.authorization { lines.append("Proxy-Authorization: \(authorization)") }
        request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Asks; `completion` is told once, with nil when the tunnel is there.
    func start(_ socket: Box<Socket>, on loop: EventLoop, completion: @escaping (WireError?) -> Void) {
        self.completion = completion
        do throws(WireError) {
            watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] _ in proceed(loop) }
        } catch {
            finish(error)
            return
        }
        proceed(loop)
    }

    /// Gives up without a word.
    func cancel() {
        completion = nil
        watcher?.close()
        watcher = nil
    }

    private func proceed(_ loop: EventLoop) {
        while !request.isEmpty {
            switch request.withUnsafeBytes({ transport.value.write($0) }) {
            case .moved(let count): request.removeFirst(count)
            case .mustWait:
                watcher?.wait(for: .writable)
                return
            case .ended: return finish(WireError(.closedByPeer, "the proxy \(proxyName) closed the connection"))
            case .failed(let error): return finish(error)
            }
        }
        var count = 0
        let outcome = transport.value.fill(loop.readBuffer, &count)
        answer += loop.readBuffer[..<count]
        if let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) {
            judge(String(decoding: answer[..<end.lowerBound], as: UTF8.self), hasMore: end.upperBound < answer.count)
            return
        }
        switch outcome {
        case .moved, .mustWait:
            guard answer.count <= ProxyTunnel.answerLimit else {
                return finish(WireError(.protocolViolation, "the proxy \(proxyName) does not answer as one"))
            }
            watcher?.wait(for: .readable)
        case .ended: finish(WireError(.closedByPeer, "the proxy \(proxyName) closed the connection"))
        case .failed(let error): finish(error)
        }
    }

    private func judge(_ head: String, hasMore: Bool) {
        let line = head.prefix { $0 != "\r\n" }
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].count == 3 else {
            return finish(WireError(.protocolViolation, "the proxy \(proxyName) does not answer as one"))
        }
        // The server says nothing before it is spoken to: what comes with the answer is not from it.
        guard words[1].hasPrefix("2"), !hasMore else {
            return finish(WireError(.connectionRefused, "the proxy \(proxyName) answered \(line)"))
        }
        finish(nil)
    }

    private func finish(_ error: WireError?) {
        let completion = completion.take()
        cancel()
        completion?(error)
    }
}
