import Foundation
import Synchronization

/// Plays the part of systemd: a datagram socket that a service tells how it is.
package final class NotifySocket: Sendable {
    package let path: String
    private let descriptor: Int32
    private let scratch: ScratchDirectory
    private let heard = Mutex<[String]>([])

    package init() throws {
        scratch = try ScratchDirectory()
        path = scratch.path + "/notify"
        #if canImport(Darwin)
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit {
        close(descriptor)
    }

    /// All assignments so far, in their order.
    package var all: [String] { heard.withLock(\.self) }

    /// Reads until an assignment comes for the `count`th time; holds no thread of the tests' pool.
    package func wait(for assignment: String, count: Int = 1) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while self.all.count(where: { $0.hasPrefix(assignment) }) < count { self.read() }
                continuation.resume()
            }
        }
    }

    private func read() {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { return }
        let lines = String(decoding: piece[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        heard.withLock { $0 += lines }
    }
}
