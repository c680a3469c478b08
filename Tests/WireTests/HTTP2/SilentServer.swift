import Foundation

/// A server that accepts connections and says nothing; and the means to say anything at all to a server.
final class SilentServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = SilentServer.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) | listen(descriptor, 5) | getsockname(descriptor, pointer, &length)
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }

    /// Returns when a client has connected.
    func waitForClient() async {
        let descriptor = descriptor
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = Glibc.poll(&poll, 1, 10_000)
                continuation.resume()
            }
        }
    }

    /// Connects, sends the bytes, and waits until the server has closed or answered.
    static func send(_ bytes: [UInt8], to port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(.ECONNREFUSED) }
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer = [UInt8](repeating: 0, count: 1_024)
        _ = recv(descriptor, &answer, answer.count, 0)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
