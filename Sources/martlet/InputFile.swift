import Commands
import Wire

/// A file that an option names; `-` is standard input.
struct InputFile: ArgumentValue, CustomStringConvertible {
    /// The path, or `-`.
    let path: String
    var description: String { path }

    /// A file from text; whether it exists shows when it is read.
    init(argument: String) {
        path = argument
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "file" }
    /// Part of `ArgumentValue`.
    static var isFile: Bool { true }

    /// All bytes of the file.
    ///
    /// - Throws: ``UsageError`` with the file and the system's reason.
    func bytes() throws(UsageError) -> [UInt8] {
        if path == "-" { return StandardInput.bytes() }
        do throws(FileReadError) {
            return try FileContents.read(path)
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// The file as text; bytes that are not UTF-8 are replaced.
    ///
    /// - Throws: ``UsageError`` with the file and the system's reason.
    func text() throws(UsageError) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }
}
