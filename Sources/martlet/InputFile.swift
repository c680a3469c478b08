import Commands

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that an option names; `-` is standard input.
struct InputFile: ArgumentValue {
    /// The path, or `-`.
    let path: String

    /// Any text names a file; whether there is one shows when it is read.
    init(argument: String) {
        path = argument
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "file" }

    /// All bytes of the file.
    ///
    /// - Throws: ``UsageError`` that names the file when it cannot be read.
    func bytes() throws(UsageError) -> [UInt8] {
        if path == "-" { return StandardInput.bytes() }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw UsageError("the file \(path) cannot be read")
        }
        return Array(data)
    }

    /// The file as text; bytes that are not UTF-8 are replaced.
    ///
    /// - Throws: ``UsageError`` that names the file when it cannot be read.
    func text() throws(UsageError) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }
}
