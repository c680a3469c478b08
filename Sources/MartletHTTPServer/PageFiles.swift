// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletTransport

/// The files of a web page, served to browsers.
package struct PageFiles: Sendable {
    /// A file with the entity tag of its content; nil when the hash cannot be calculated.
    private struct File: Sendable {
        var file: PageFile
        var tag: String?
    }

    private let files: [String: File]

    /// Creates the responses for the files of a page.
    package init(_ files: [PageFile]) {
        self.files = Dictionary(
            uniqueKeysWithValues: files.map { file in
                let tag = (try? SHA256.hash(file.bytes)).map { hash in
                    var digits: [UInt8] = []
                    for byte in hash { digits.appendHexadecimal(byte) }
                    return "\"\(String(decoding: digits, as: UTF8.self))\""
                }
                return (file.path, File(file: file, tag: tag))
            }
        )
    }

    /// The content security policy: the page loads only its own files, runs only scripts that are among them, and
    /// cannot be embedded in another page.
    ///
    /// Content of pushes is therefore always displayed as text.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
    ]

    /// Returns whether the path of a request is that of a file.
    package func hasPath(of request: HTTPRequest) -> Bool { files[request.path] != nil }

    /// Returns the response with the requested file; nil when the request is for another path or method.
    package func answer(_ request: HTTPRequest) -> HTTP1Answer? {
        guard request.method == "GET" || request.method == "HEAD", let file = files[request.path] else { return nil }
        var fields: HTTPFields = [
            "content-type": file.file.type, "cache-control": "no-cache", "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
        ]
        fields.append("content-security-policy", PageFiles.policy.joined(separator: "; "))
        if let tag = file.tag {
            fields.append("etag", tag)
            if request.fields["if-none-match"] == tag { return .whole(HTTPResponse(status: 304, fields: fields)) }
        }
        return .whole(HTTPResponse(status: 200, fields: fields, body: file.file.bytes))
    }
}
