// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension WriteAheadLog {
    /// The number of bytes that are read at once.
    private static let pieceSize = 1 << 18

    /// Reads a file to its end; a missing file is an empty log.
    ///
    /// - Parameter path: The file of the log, which nothing may write meanwhile.
    /// - Throws: ``SQLiteError`` with the reason of the system.
    package init(file path: String) throws(SQLiteError) {
        self.init()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw SQLiteError.system(errno, "cannot read \(path)") }
            return
        }
        // Closing it releases no lock: SQLite's locks are on the database, not on its log.
        defer { close(descriptor) }
        var piece = [UInt8](repeating: 0, count: WriteAheadLog.pieceSize)
        while true {
            let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return }
            if count > 0 {
                add(Array(piece[..<count]))
            } else if errno != EINTR {
                throw SQLiteError.system(errno, "cannot read \(path)")
            }
        }
    }
}
