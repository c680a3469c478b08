package import Pages
package import Wire

/// The files of a page, as a browser wants them.
package struct PageFiles: Sendable {
    /// A file with the tag that a browser knows its content by; nil when none can be made.
    private struct File: Sendable {
        var file: PageFile
        var tag: String?
    }

    private let files: [String: File]

    /// The files of a page.
    package init(_ files: [PageFile]) {
        self.files = Dictionary(
            uniqueKeysWithValues: files.map { file in
                let tag = (try? SHA256.hash(file.bytes)).map { hash in
                    "\"\(hash.map { String($0, radix: 16) }.joined())\""
                }
                return (file.path, File(file: file, tag: tag))
            }
        )
    }

    /// The page loads its own files and nothing else, runs no script that is not among them, and is shown in no other
    /// page: whatever a push holds, it stays text.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
    ]

    /// Whether the path of a request is that of a file.
    package func hasPath(of request: HTTPRequest) -> Bool { files[request.path] != nil }

    /// The file that a request asks for; nil when it asks for something else.
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
