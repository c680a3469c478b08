// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A non-blocking TCP socket, closed when the value is destroyed.
package struct Socket: ~Copyable, Sendable {
    let descriptor: CInt

    /// Takes ownership of a socket, and makes it non-blocking.
    init(adopting descriptor: CInt) throws(TransportError) {
        self.descriptor = descriptor
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else {
            throw Socket.systemError("cannot prepare a socket")
        }
        // Frames are batched before they are written, so Nagle's algorithm would only add latency.
        Socket.set(IPPROTO_TCP, TCP_NODELAY, of: descriptor)
        #if canImport(Darwin)
            // XNU sends SIGPIPE to the process, so blocking it on the writing thread has no effect.
            Socket.set(SOL_SOCKET, SO_NOSIGPIPE, of: descriptor)
        #endif
    }

    /// Creates a socket of the address family of `address`.
    ///
    /// - Throws: ``TransportError`` of kind `.addressNotAvailable` when the system has no such family, or `.system`.
    init(for address: SocketAddress) throws(TransportError) {
        #if canImport(Glibc)
            let stream = CInt(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let descriptor = socket(CInt(address.family), stream, 0)
        guard descriptor >= 0 else { throw Socket.systemError("cannot create a socket") }
        try self.init(adopting: descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Starts connecting; the socket becomes writable when the attempt has ended, and ``connectError`` has the result.
    func startConnecting(to address: SocketAddress) throws(TransportError) {
        let status = address.withPointer { connect(descriptor, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else {
            throw TransportError(.connectionRefused, "\(address): \(Socket.message(errno))")
        }
    }

    /// The reason why the connection attempt failed; nil when it has succeeded.
    var connectError: String? {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            return Socket.message(errno)
        }
        return code == 0 ? nil : Socket.message(code)
    }

    /// Binds the socket to an address, at which clients can connect after ``listen()``.
    func bind(to address: SocketAddress) throws(TransportError) {
        Socket.set(SOL_SOCKET, SO_REUSEADDR, of: descriptor)
        #if canImport(Glibc)
            let status = address.withPointer { Glibc.bind(descriptor, $0, $1) }
        #else
            let status = address.withPointer { Darwin.bind(descriptor, $0, $1) }
        #endif
        guard status == 0 else { throw Socket.listenError(address, errno) }
    }

    /// Lets clients connect at the address to which the socket is bound.
    func listen() throws(TransportError) {
        guard let address = localAddress else { throw Socket.systemError("cannot read the address of a socket") }
        #if canImport(Glibc)
            let status = Glibc.listen(descriptor, SOMAXCONN)
        #else
            let status = Darwin.listen(descriptor, SOMAXCONN)
        #endif
        guard status == 0 else { throw Socket.listenError(address, errno) }
    }

    /// Returns the error for an address that cannot be bound, from the system's error number (`errno`).
    static func listenError(_ address: SocketAddress, _ number: CInt) -> TransportError {
        let isForeign = number == EADDRNOTAVAIL
        let advice =
            isForeign
            ? "use an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them"
            : "choose another port, or 0 for any free one"
        return TransportError(
            isForeign ? .addressNotAvailable : .cannotListen,
            "cannot listen on \(address): \(Socket.message(number)); \(advice)"
        )
    }

    /// The result of accepting from a listening socket.
    enum Acceptance: ~Copyable {
        case accepted(Socket, from: SocketAddress)
        case wouldBlock
        /// No descriptors or memory are available, so an immediate retry would fail again.
        case exhausted
    }

    /// Accepts the next connection in the kernel's queue.
    func accept() -> Acceptance {
        while true {
            var peer = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    #if canImport(Glibc)
                        Glibc.accept(descriptor, pointer, &length)
                    #else
                        Darwin.accept(descriptor, pointer, &length)
                    #endif
                }
            }
            if accepted >= 0 {
                guard let socket = try? Socket(adopting: accepted) else { continue }
                return .accepted(socket, from: SocketAddress(storage: peer, length: length))
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .wouldBlock
            }
        }
    }

    /// Makes the socket readable only when this many bytes have arrived.
    func setLowWaterMark(_ bytes: Int) {
        var bytes = CInt(clamping: bytes)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &bytes, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Makes closing the socket send a reset to the peer instead of an orderly end.
    func resetOnClose() {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }

    var localAddress: SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return status == 0 ? SocketAddress(storage: storage, length: length) : nil
    }

    /// Returns the system's message for one of its error numbers.
    static func message(_ number: CInt) -> String {
        uvMessage(-number)
    }

    private static func systemError(_ what: String) -> TransportError {
        let number = errno
        return TransportError(number == EAFNOSUPPORT ? .addressNotAvailable : .system, "\(what): \(message(number))")
    }

    private static func set(_ level: some BinaryInteger, _ option: some BinaryInteger, of descriptor: CInt) {
        var on: CInt = 1
        setsockopt(descriptor, CInt(level), CInt(option), &on, socklen_t(MemoryLayout<CInt>.size))
    }
}
