// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv
internal import MartletCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The resolution of host names with the system's resolver, without a cache: Apple asks for a new query before each
/// connection, so that load spreads over its servers ("Sending notification requests to APNs").
enum Resolver {
    /// The state of a query until its completion.
    private final class Query {
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        let host: String
        let completion: (Result<[SocketAddress], TransportError>) -> Void

        init(host: String, completion: @escaping (Result<[SocketAddress], TransportError>) -> Void) {
            self.host = host
            self.completion = completion
        }

        deinit {
            request.deallocate()
        }
    }

    /// Calls `completion` on the loop with every address of the host, in the resolver's order.
    ///
    /// The query runs on libuv's thread pool and cannot be cancelled; the caller is responsible for a timeout. While
    /// the process exits, `completion` is not called.
    static func resolve(
        _ host: String,
        port: UInt16,
        on loop: EventLoop,
        completion: @escaping (Result<[SocketAddress], TransportError>) -> Void
    ) {
        loop.checkIsolated()
        if let address = SocketAddress(literal: host, port: port) { return completion(.success([address])) }
        let query = Query(host: host, completion: completion)
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        query.request.pointee.data = Unmanaged.passRetained(query).toOpaque()
        let status = ProcessExit.ifNotBegun {
            uv_getaddrinfo(
                loop.loop,
                query.request,
                { request, status, list in
                    guard let data = request?.pointee.data else { return }
                    let query = Unmanaged<Query>.fromOpaque(data).takeRetainedValue()
                    query.completion(Resolver.answer(host: query.host, status: status, list: list))
                    uv_freeaddrinfo(list)
                },
                host,
                String(port),
                &hints
            )
        }
        if let status, status != 0 {
            Unmanaged.passUnretained(query).release()
            completion(answer(host: host, status: status, list: nil))
        }
    }

    private static func answer(
        host: String,
        status: CInt,
        list: UnsafeMutablePointer<addrinfo>?
    ) -> Result<[SocketAddress], TransportError> {
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                addresses.append(SocketAddress(copying: address, length: entry.ai_addrlen))
            }
            next = entry.ai_next
        }
        guard status == 0, !addresses.isEmpty else {
            let why = status == 0 ? "it has no address" : uvMessage(status)
            return .failure(TransportError(.nameNotResolved, "the name \(ShownValue(host)) does not resolve: \(why)"))
        }
        return .success(addresses)
    }
}
