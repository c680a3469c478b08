// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A pseudoterminal: a program that writes to it behaves as in an interactive session.
package final class PseudoTerminal: Sendable {
    /// The path of the terminal device.
    package let path: String
    private let controller: CInt
    /// Keeps the terminal open while no program has it.
    private let terminal: CInt

    /// Opens a terminal with a number of columns.
    package init(columns: UInt16) throws {
        controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard controller >= 0, let path = PseudoTerminal.path(of: controller) else { throw POSIXError(.EIO) }
        self.path = path
        terminal = open(path, O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { throw POSIXError(.EIO) }
        var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
        _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
        _ = fcntl(terminal, F_SETFD, FD_CLOEXEC)
    }

    /// Unlocks the terminal of a controller and returns its path.
    private static func path(of controller: CInt) -> String? {
        #if canImport(Glibc)
            // The ioctls of unlockpt(3) and ptsname(3), which Swift's Glibc module does not export.
            var (number, unlocked): (CUnsignedInt, CInt) = (0, 0)
            guard ioctl(controller, 0x4004_5431, &unlocked) == 0, ioctl(controller, 0x8004_5430, &number) == 0 else {
                return nil
            }
            return "/dev/pts/\(number)"
        #else
            guard grantpt(controller) == 0, unlockpt(controller) == 0 else { return nil }
            return ptsname(controller).map { String(cString: $0) }
        #endif
    }

    deinit {
        close(controller)
        close(terminal)
    }

    /// Returns everything that is written to the terminal until `isDone` returns.
    ///
    /// Reads concurrently, because a program blocks when the terminal's buffer of a few kilobytes is full.
    package func text(until isDone: @escaping @Sendable () async throws -> Void) async throws -> String {
        async let text = onOwnThread { self.read() }
        do {
            // Control-D marks the end of the text, also after an error; the programs under test do not write it.
            defer { _ = "\u{04}".withCString { write(terminal, $0, 1) } }
            try await isDone()
        }
        return await text
    }

    private func read() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.last != 4 {
            let count = Foundation.read(controller, &piece, piece.count)
            guard count > 0 || count < 0 && errno == EINTR else { break }
            bytes += piece[..<max(0, count)]
        }
        // A terminal adds a carriage return to each line feed.
        return String(decoding: bytes.filter { $0 != 4 }, as: UTF8.self).replacing("\r\n", with: "\n")
    }
}
