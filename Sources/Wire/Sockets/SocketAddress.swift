internal import CLibuv

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

    /// The address that a literal such as `127.0.0.1` or `::1` names; nil for anything else.
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
        // The port has the same place in the IPv4 and the IPv6 form.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The address without its port, as a literal.
    package var host: String {
        var name = [CChar](repeating: 0, count: 64)
        let status = withPointer { address, _ in uv_ip_name(address, &name, name.count) }
        guard status == 0 else { return "unknown address" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// `127.0.0.1:443` or `[::1]:443`.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
