// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Functions that read and create whole files, such as keys, certificates and configurations.
package enum FileContents {
    /// The maximum size of a file in bytes, far more than any of these files needs.
    private static let byteLimit = 16 * 1024 * 1024
    /// The maximum wait for the next bytes of a pipe, long enough to enter the passphrase of a password store.
    package static let pipeWait = Duration.seconds(60)

    /// Reads a file or a pipe.
    ///
    /// - Parameters:
    ///   - path: The path; a relative path is resolved against the working directory.
    ///   - wait: The maximum wait for the next bytes of a pipe, which another program may never write.
    /// - Returns: The bytes.
    /// - Throws: ``FileError`` with the system's reason, for a file larger than 16 MB, or after the wait.
    package static func read(
        _ path: String,
        within wait: Duration = FileContents.pipeWait
    ) throws(FileError) -> [UInt8] {
        let contents = try start(of: path, byteCount: byteLimit + 1, within: wait)
        guard contents.count <= byteLimit else { throw FileError("read", path, reason: "it is larger than 16 MB") }
        return contents
    }

    /// Reads the first bytes of a file of any size.
    ///
    /// - Parameters:
    ///   - path: The path; a relative path is resolved against the working directory.
    ///   - byteCount: The number of bytes.
    ///   - wait: The maximum wait for the next bytes of a pipe.
    /// - Returns: The bytes, fewer when the file is shorter.
    /// - Throws: ``FileError`` with the system's reason, or after the wait.
    package static func start(
        of path: String,
        byteCount: Int,
        within wait: Duration = FileContents.pipeWait
    ) throws(FileError) -> [UInt8] {
        // Without this flag, opening a named pipe blocks until another program opens it for writing.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError("read", path, errno) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(byteCount, 64 * 1024))
        while contents.count < byteCount {
            guard poll(descriptor, within: wait) else {
                throw FileError("read", path, reason: "it is a pipe to which no program writes")
            }
            let limit = min(buffer.count, byteCount - contents.count)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, limit) }
            guard count >= 0 || errno == EINTR || errno == EAGAIN else { throw FileError("read", path, errno) }
            if count == 0 { break }
            contents += buffer.prefix(max(0, count))
        }
        return contents
    }

    /// Reads a text file.
    ///
    /// - Parameter path: The path; a relative path is resolved against the working directory.
    /// - Returns: The text.
    /// - Throws: ``FileError`` with the system's reason, or when the bytes are not valid UTF-8.
    package static func text(_ path: String) throws(FileError) -> String {
        guard let text = String(validating: try read(path), as: UTF8.self) else {
            throw FileError("read", path, reason: "it is not valid UTF-8")
        }
        return text
    }

    /// Returns PEM text that was given in place of the path of a file, or reads the text file.
    ///
    /// - Parameter pathOrPEM: The path, or PEM text, also in base64.
    /// - Returns: The text.
    /// - Throws: ``FileError`` with the system's reason, or when the bytes are not valid UTF-8.
    package static func textOrPEM(_ pathOrPEM: String) throws(FileError) -> String {
        if let pem = PEMText.text(in: pathOrPEM) { return pem }
        return try text(pathOrPEM)
    }

    /// Creates a file, which must not exist.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - text: The content.
    ///   - mode: The permissions.
    /// - Throws: ``FileError`` with the system's reason.
    package static func create(_ path: String, _ text: String, mode: UInt16) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw FileError("created", path, errno) }
        defer { close(descriptor) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw FileError("written", path, errno) }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    /// Creates a directory and its missing parent directories.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - mode: The permissions of directories that are created.
    /// - Throws: ``FileError`` with the system's reason.
    package static func createDirectory(_ path: String, mode: UInt16 = 0o755) throws(FileError) {
        // Such as a key that was given in place of a path, and would be the name of the directory.
        guard !path.utf8.contains(where: { $0 < 0x20 }) else {
            throw FileError("created", path, reason: "its name has line breaks or other control characters")
        }
        guard mkdir(path, mode_t(mode)) != 0 else { return }
        let reason = errno
        var facts = stat()
        if reason == EEXIST, unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR { return }
        guard reason == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw FileError("created", path, reason)
        }
        try createDirectory(String(path[..<slash]), mode: mode)
        guard mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else { throw FileError("created", path, errno) }
    }

    /// Creates a hard link to a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - other: The path of the link.
    /// - Returns: False when a file already exists at the path of the link.
    /// - Throws: ``FileError`` with the system's reason.
    package static func link(_ path: String, to other: String) throws(FileError) -> Bool {
        if systemLink(path, other) == 0 { return true }
        guard errno == EEXIST else { throw FileError("created", other, errno) }
        return false
    }

    /// Returns whether every user of the system may read a file; false for a file that does not exist.
    package static func isReadableByEveryone(_ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & 0o004 != 0
    }

    /// Waits until a descriptor has bytes, its end or an error; returns false after the wait.
    private static func poll(_ descriptor: CInt, within wait: Duration) -> Bool {
        let milliseconds = wait.components.seconds * 1_000 + wait.components.attoseconds / 1_000_000_000_000_000
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var count: CInt
        repeat { count = unsafe systemPoll(&request, CInt(clamping: milliseconds)) } while count < 0 && errno == EINTR
        return count != 0
    }

    private static func systemPoll(_ request: UnsafeMutablePointer<pollfd>, _ milliseconds: CInt) -> CInt {
        #if canImport(Glibc)
            unsafe Glibc.poll(request, 1, milliseconds)
        #elseif canImport(Darwin)
            unsafe Darwin.poll(request, 1, milliseconds)
        #endif
    }

    private static func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.read(descriptor, buffer, count)
        #elseif canImport(Darwin)
            unsafe Darwin.read(descriptor, buffer, count)
        #endif
    }

    private static func systemLink(_ path: String, _ other: String) -> CInt {
        #if canImport(Glibc)
            Glibc.link(path, other)
        #elseif canImport(Darwin)
            Darwin.link(path, other)
        #endif
    }
}

/// The reason why a file cannot be read, created or written.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path, unless it may be a secret, the failed action, the reason and, for a relative path, the working
    /// directory.
    package let description: String
    /// The reason alone.
    package let reason: String

    /// Creates an error with the system's reason.
    ///
    /// - Parameters:
    ///   - action: The failed action as a participle, such as "read".
    ///   - path: The path as the caller passed it.
    ///   - number: The system's error number (`errno`).
    package init(_ action: String, _ path: String, _ number: CInt) {
        self.init(action, path, reason: Socket.message(number))
    }

    /// Creates an error with this reason, which has no final full stop.
    package init(_ action: String, _ path: String, reason: String) {
        self.reason = reason
        let shown = ShownValue(path)
        var description = "\(shown) cannot be \(action): \(reason)"
        if !shown.isWhole {
            description += "; the path of a file is needed"
        } else if !path.hasPrefix("/"), let directory = FileError.workingDirectory {
            description += " (in \(directory))"
        }
        self.description = description
    }

    private static var workingDirectory: String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let hasPath = unsafe path.withUnsafeMutableBufferPointer { unsafe getcwd($0.baseAddress, $0.count) != nil }
        guard hasPath else { return nil }
        return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
