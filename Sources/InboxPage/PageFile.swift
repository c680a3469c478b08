internal import CInboxPage

/// One file that a browser asks for to show the inbox.
///
/// The module `InboxPage` holds the page: HTML, style and scripts, which are taken into the program as they are. They
/// need no build step and ask nobody but the simulator.
package struct PageFile: Sendable {
    /// The path it is asked for by.
    package let path: String
    /// Its media type.
    package let type: String
    /// What is in it.
    package let bytes: [UInt8]

    /// Every file.
    package static let all: [PageFile] = {
        var files: [PageFile] = []
        while case let file = martlet_page_file_at(files.count), let path = file.path, let type = file.type {
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
            files.append(
                PageFile(path: String(cString: path), type: String(cString: type), bytes: Array(bytes))
            )
        }
        return files
    }()
}
