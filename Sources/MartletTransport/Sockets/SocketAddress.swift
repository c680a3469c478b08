// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage: sockaddr_storage
    private var length: socklen_t

    init(storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        storage = sockaddr_storage()
        self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(self.length)))
        }
    }

    /// Creates an address from a literal such as `127.0.0.1` or `::1`; nil for anything else.
    package init?(literal: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if uv_ip4_addr(literal, CInt(port), &four) == 0 {
            self = withUnsafePointer(to: &four) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    SocketAddress(copying: pointer, length: socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        } else if uv_ip6_addr(literal, CInt(port), &six) == 0 {
            self = withUnsafePointer(to: &six) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    SocketAddress(copying: pointer, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } else {
            return nil
        }
    }

    var family: sa_family_t { storage.ss_family }

    /// The port, in the host's byte order.
    package var port: UInt16 {
        // The port has the same offset in `sockaddr_in` and `sockaddr_in6`.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The address without its port, as a literal.
    package var host: String {
        var name = [CChar](repeating: 0, count: 64)
        let status = withPointer { address, _ in uv_ip_name(address, &name, name.count) }
        guard status == 0 else { return "unknown address" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the address is a unicast address of the public Internet, not a private, local, shared or reserved one.
    ///
    /// Source: IANA's registries of special-purpose addresses (RFC 6890).
    package var isPublic: Bool {
        let bytes = addressBytes
        guard bytes.count == 16 else { return SocketAddress.isPublic(four: bytes) }
        // IPv4-mapped, IPv4-compatible and 6to4 addresses are judged by their IPv4 address (RFC 4291 §2.5.5, RFC 3056);
        // addresses of NAT64 (RFC 6052) count as not public.
        if bytes.starts(with: [UInt8](repeating: 0, count: 10)) || bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]) {
            return bytes[..<8].allSatisfy { $0 == 0 } ? SocketAddress.isPublic(four: Array(bytes[12...])) : false
        }
        if bytes.starts(with: [0x20, 0x02]) { return SocketAddress.isPublic(four: Array(bytes[2..<6])) }
        // Only 2000::/3 is allocated; 2001::/23 is for protocols, 2001:db8::/32 for documentation.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        return !(bytes.starts(with: [0x20, 0x01]) && (bytes[2] < 2 || bytes[2...3] == [0x0D, 0xB8]))
    }

    /// Whether the address is a loopback address: of 127.0.0.0/8, also mapped to IPv6 (RFC 4291 §2.5.5.2), or `::1`.
    package var isLoopback: Bool {
        let bytes = addressBytes
        guard bytes.count == 16 else { return bytes.first == 127 }
        let zeros = [UInt8](repeating: 0, count: 10)
        return bytes == zeros + [0, 0, 0, 0, 0, 1] || bytes.starts(with: zeros + [0xFF, 0xFF, 127])
    }

    private static func isPublic(four: [UInt8]) -> Bool {
        guard four.count == 4 else { return false }
        switch (four[0], four[1], four[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): return false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): return false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): return false
        default: return true
        }
    }

    /// The address without its port: 4 or 16 bytes.
    var addressBytes: [UInt8] {
        let (offset, count) = family == sa_family_t(AF_INET6) ? (8, 16) : (4, 4)
        return withUnsafeBytes(of: storage) { Array($0[offset..<offset + count]) }
    }

    /// The address with its port, as in `127.0.0.1:443` or `[::1]:443`.
    package var description: String {
        "\(SocketAddress.bracketed(host)):\(port)"
    }

    /// Returns a host in the form of a URL, in which an IPv6 address is in brackets (RFC 3986 §3.2.2).
    package static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
