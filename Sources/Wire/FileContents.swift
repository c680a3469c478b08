#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads whole files, such as keys, certificates and configurations.
package enum FileContents {
    /// The size from which on a file is refused: far more than any of these files needs.
    private static let byteLimit = 16 * 1024 * 1024

    /// Reads a file.
    ///
    /// - Parameter path: The path; a relative one counts from the working directory.
    /// - Returns: The bytes.
    /// - Throws: ``FileReadError`` with the system's reason.
    package static func read(_ path: String) throws(FileReadError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileReadError(path, Socket.message(errno)) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw FileReadError(path, Socket.message(errno))
            }
            if count == 0 { return contents }
            contents += buffer[..<count]
            guard contents.count <= byteLimit else { throw FileReadError(path, "it is larger than 16 MB") }
        }
    }

    private static func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.read(descriptor, buffer, count)
        #elseif canImport(Darwin)
            unsafe Darwin.read(descriptor, buffer, count)
        #endif
    }
}

/// Why a file cannot be read.
package struct FileReadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path, the system's reason and, for a relative path, the directory that it was looked for in.
    package let description: String

    fileprivate init(_ path: String, _ reason: String) {
        var description = "\(path) cannot be read: \(reason)"
        if !path.hasPrefix("/"), let directory = FileReadError.workingDirectory {
            description += " (looked for in \(directory))"
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
