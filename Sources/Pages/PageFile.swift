internal import CPages

/// A file of a web page.
///
/// The module `Pages` contains the pages of the inbox and of the relay: HTML, style sheets and scripts, which are
/// embedded in the program unchanged. They need no build step and load resources only from the program that serves
/// them.
package struct PageFile: Sendable {
    /// The path of the file in requests.
    package let path: String
    /// The media type.
    package let type: String
    /// The content.
    package let bytes: [UInt8]

    /// All files of the inbox.
    package static let inbox = files(at: martlet_inbox_file_at)
    /// All files of the relay's page.
    package static let relay = files(at: martlet_relay_file_at)

    private static func files(at file: (Int) -> martlet_page_file) -> [PageFile] {
        var files: [PageFile] = []
        while case let file = file(files.count), let path = file.path, let type = file.type {
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
            files.append(
                PageFile(path: String(cString: path), type: String(cString: type), bytes: Array(bytes))
            )
        }
        return files
    }
}
