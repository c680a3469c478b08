// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Operations on database files and their disk.
package enum DiskFile {
    /// Returns the size of a file in bytes; 0 for a missing file.
    package static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Returns the space in bytes that this process may still use on the disk of a file; nil when it is not known.
    package static func freeSpace(beside path: String) -> Int64? { space(beside: path)?.free }

    /// Returns the space in bytes that this process may still use on the disk of a file, and the size of the disk; nil
    /// when they are not known.
    package static func space(beside path: String) -> (free: Int64, size: Int64)? {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        func bytes(_ blocks: some BinaryInteger) -> Int64 {
            let (space, overflows) = Int64(clamping: blocks).multipliedReportingOverflow(
                by: Int64(clamping: status.f_frsize)
            )
            return overflows ? .max : space
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    /// Deletes a database with the files that SQLite stores beside it; missing files are no error.
    package static func deleteDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// Renames a file and replaces an existing one.
    ///
    /// - Throws: ``SQLiteError`` with the reason of the system; both files are unchanged then.
    package static func rename(_ path: String, to other: String) throws(SQLiteError) {
        guard replace(path, other) != 0 else { return }
        throw SQLiteError.system(errno, "cannot rename \(path) to \(other)")
    }

    /// Writes the directory of a file to the disk, so that a renamed file has its new name after a power failure.
    ///
    /// - Throws: ``SQLiteError`` with the reason of the system.
    package static func syncDirectory(of path: String) throws(SQLiteError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SQLiteError.system(errno, "cannot open the directory \(directory)") }
        defer { close(descriptor) }
        // Some file systems do not support this for directories.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw SQLiteError.system(errno, "cannot write the directory \(directory)")
        }
    }
}

/// Calls the function of the system, whose name is that of the method above.
private func replace(_ path: String, _ other: String) -> CInt { rename(path, other) }
