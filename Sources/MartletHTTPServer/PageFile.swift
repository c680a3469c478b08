// SPDX-License-Identifier: Apache-2.0

internal import CMartletPages

/// A file of a web page, or another text that does not change.
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

    /// Creates a file from its parts.
    package init(path: String, type: String, bytes: [UInt8]) {
        self.path = path
        self.type = type
        self.bytes = bytes
    }

    /// All files of the inbox.
    package static let inbox = unsafe files(martlet_inbox_files()) + [pushTypes]
    /// All files of the relay's page.
    package static let relay = unsafe files(martlet_relay_files())

    private static func files(_ list: UnsafePointer<martlet_page_file>?) -> [PageFile] {
        guard let list = unsafe list else { return [] }
        let types = ["css": "css", "js": "javascript", "md": "markdown"]
        var files: [PageFile] = []
        while case let file = unsafe list[files.count], let path = unsafe file.path, let text = unsafe file.text {
            let name = unsafe String(cString: path).split(separator: "/").last ?? ""
            let type = types[String(name.split(separator: ".").last ?? "")] ?? "html"
            files.append(
                PageFile(
                    path: name == "index.html" ? "/" : "/page/\(name)",
                    type: "text/\(type); charset=utf-8",
                    bytes: Array(unsafe String(cString: text).utf8)
                )
            )
        }
        return files
    }
}
