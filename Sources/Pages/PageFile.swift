internal import CPages

/// One file that a browser asks for to show a page.
///
/// The module `Pages` holds the pages of the inbox and of the relay: HTML, style and scripts, which are taken into the
/// program as they are. They need no build step and ask nobody but the program that they come from.
package struct PageFile: Sendable {
    /// The path it is asked for by.
    package let path: String
    /// Its media type.
    package let type: String
    /// What is in it.
    package let bytes: [UInt8]

    /// Every file of the inbox.
    package static let inbox = files(at: martlet_inbox_file_at)
    /// Every file of the relay's page.
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
