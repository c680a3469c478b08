// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletTransport
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An output file to which whole lines are appended, written by one process at a time.
final class LineFile: Sendable {
    /// The number of pending bytes from which they are written.
    private static let writeLength = 16 * 1024

    let path: String
    /// The option that names the file, for messages.
    private let option: String
    private let descriptor: CInt
    /// The identity of the file, independent of its path.
    let identity: FileIdentity?
    /// Whether this process created the file.
    private let isNew: Bool
    private let state: Mutex<State>

    private struct State {
        /// The line to write before the first appended one; empty when it has been appended.
        var heading: [UInt8]
        var pending: [UInt8] = []
    }

    /// Creates the file, or opens the file of an earlier run, and locks it.
    ///
    /// A device such as /dev/null, or a pipe, is always opened and never locked.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - option: The option that names the path.
    ///   - isResumed: Whether the file of an earlier run is continued.
    ///   - heading: The line to write before the first appended one; empty, the default, for none.
    /// - Throws: ``UsageError`` if the file exists although it is not continued, or if another process uses it.
    init(_ path: String, option: String, isResumed: Bool, heading: String = "") throws(UsageError) {
        self.path = path
        state = Mutex(State(heading: Array(heading.utf8)))
        self.option = option
        let known = FileIdentity(path)
        isNew = known == nil
        let isExclusive = !isResumed && known?.isRegular != false
        let flags = known?.isRegular == false ? O_WRONLY : O_RDWR | O_CREAT | (isExclusive ? O_EXCL : 0)
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            let hint = number == EEXIST ? "; give --resume to continue an interrupted run, or another file" : ""
            throw UsageError("\(option) \(FileError(isNew || isExclusive ? "created" : "opened", path, number))" + hint)
        }
        identity = FileIdentity(descriptor)
        guard identity?.isRegular == true, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else {
            return
        }
        let owner = identity?.lockOwner.map { "process \($0)" } ?? "another run of martlet"
        throw UsageError(
            "\(option) \(ShownValue(path)) is locked by \(owner), which is sending; wait for it, or give another file"
        )
    }

    deinit {
        close(descriptor)
    }

    /// Truncates the file to a length, and appends there.
    func truncate(to length: Int) throws(UsageError) {
        guard identity?.isRegular == true else { return }
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw UsageError("\(option) \(FileError("written", path, errno))")
        }
    }

    /// Removes the file if this process created it and has written nothing.
    func removeIfEmpty() {
        guard isNew, state.withLock(\.pending.isEmpty), FileIdentity(descriptor)?.length == 0 else { return }
        unsafe unlink(path)
    }

    func append(_ line: some Sequence<UInt8>) throws(CommandError) {
        let isFull = state.withLock { state in
            if !state.heading.isEmpty {
                state.pending += state.heading + [UInt8(ascii: "\n")]
                state.heading = []
            }
            state.pending.append(contentsOf: line)
            state.pending.append(UInt8(ascii: "\n"))
            return state.pending.count >= LineFile.writeLength
        }
        if isFull { try flush() }
    }

    /// Writes the appended lines.
    func flush() throws(CommandError) {
        let failure: CInt? = state.withLock { state in
            var rest = state.pending[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                let reason = errno
                guard count > 0 || reason == EINTR else {
                    // The written part must not be written again by a later attempt.
                    state.pending = Array(rest)
                    return reason
                }
                rest = rest.dropFirst(max(0, count))
            }
            state.pending.removeAll(keepingCapacity: true)
            return nil
        }
        if let failure { throw CommandError("\(option) \(FileError("written", path, failure))") }
    }

    /// Writes the appended lines and flushes them to the disk.
    func finish() throws(CommandError) {
        try flush()
        #if canImport(Darwin)
            // On macOS, fsync leaves the data in the cache of the drive.
            fcntl(descriptor, F_FULLFSYNC)
        #else
            fsync(descriptor)
        #endif
    }
}

/// The identity of a file: the same for all paths and links to it.
struct FileIdentity: Equatable {
    private let facts: stat

    /// Identifies the file at a path; nil if there is none.
    init?(_ path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        self.facts = facts
    }

    /// Identifies the file of a descriptor.
    init?(_ descriptor: CInt) {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { return nil }
        self.facts = facts
    }

    /// Whether the file is a regular file, not a device, a pipe or a directory.
    var isRegular: Bool { facts.st_mode & S_IFMT == S_IFREG }

    var length: Int { Int(facts.st_size) }

    /// The process that has locked the file; nil if the system does not report it.
    var lockOwner: String? {
        guard let locks = try? FileContents.text("/proc/locks") else { return nil }
        for line in locks.split(separator: "\n") {
            // "1: FLOCK  ADVISORY  WRITE 4711 fd:01:12345 0 EOF"
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[5].hasSuffix(":\(facts.st_ino)") else { continue }
            return String(fields[4])
        }
        return nil
    }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.facts.st_dev == right.facts.st_dev && left.facts.st_ino == right.facts.st_ino
    }
}
