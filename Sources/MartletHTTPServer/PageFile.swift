// SPDX-License-Identifier: Apache-2.0

internal import CMartletPages

/// A file of a web page.
///
/// The pages of the inbox and of the relay consist of HTML, style sheets and scripts, which are embedded in the program
/// unchanged, except for one generated script. They need no build step and load resources only from the program that
/// serves them.
package struct PageFile: Sendable {
    /// The path of the file in requests.
    package let path: String
    /// The media type.
    package let type: String
    /// The content.
    package let bytes: [UInt8]

    /// All files of the inbox.
    package static let inbox = unsafe files(at: martlet_inbox_file_at) + [pushTypes]
    /// All files of the relay's page.
    package static let relay = unsafe files(at: martlet_relay_file_at)

    private static func files(at file: (Int) -> martlet_page_file) -> [PageFile] {
        var files: [PageFile] = []
        while case let file = unsafe file(files.count), let path = unsafe file.path, let type = unsafe file.type {
            let bytes = unsafe UnsafeBufferPointer(start: file.bytes, count: file.count)
            files.append(unsafe PageFile(path: String(cString: path), type: String(cString: type), bytes: Array(bytes)))
        }
        return files
    }
}
