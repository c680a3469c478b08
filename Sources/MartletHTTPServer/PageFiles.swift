// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletTransport

/// The files of a web page, served to browsers.
package struct PageFiles: Sendable {
    /// A file, unchanged and compressed, each with an entity tag of its own (RFC 9110 §8.8.3.3).
    private struct File: Sendable {
        var plain: HTTPResponse
        var compressed: HTTPResponse?
    }

    private let files: [String: File]

    /// Creates the responses for the files of a page, which are compressed here once.
    package init(_ files: [PageFile]) {
        self.files = Dictionary(uniqueKeysWithValues: files.map { ($0.path, PageFiles.responses(with: $0)) })
    }

    /// The content security policy: the page loads only its own files, runs only scripts that are among them, and
    /// cannot be embedded in another page.
    ///
    /// Content of pushes is therefore always displayed as text.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
    ]

    private static func responses(with file: PageFile) -> File {
        var fields: HTTPFields = [
            "content-type": file.type, "cache-control": "no-cache", "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
        ]
        fields.append("content-security-policy", policy.joined(separator: "; "))
        var plain = HTTPResponse(status: 200, fields: fields, body: file.bytes)
        var compressed = plain.compressed
        plain.fields.append("vary", "accept-encoding")
        compressed?.fields.append("vary", "accept-encoding")
        // Without a hash, the file has no entity tag and is never answered 304.
        if let hash = try? SHA256.hash(file.bytes) {
            var digits: [UInt8] = []
            for byte in hash { digits.appendHexadecimal(byte) }
            let tag = String(decoding: digits, as: UTF8.self)
            plain.fields.append("etag", "\"\(tag)\"")
            compressed?.fields.append("etag", "\"\(tag)-gzip\"")
        }
        return File(plain: plain, compressed: compressed)
    }

    /// Returns whether the path of a request is that of a file.
    package func hasPath(of request: HTTPRequest) -> Bool { files[request.path] != nil }

    /// Returns the response with the requested file; nil when the request is for another path or method.
    package func answer(_ request: HTTPRequest) -> HTTP1Answer? {
        guard request.method == "GET" || request.method == "HEAD", let file = files[request.path] else { return nil }
        let prefersGzip = AcceptedCodings(request.fields).prefersGzip
        let response = prefersGzip ? file.compressed ?? file.plain : file.plain
        guard let tag = response.fields["etag"], PageFiles.hasStored(tag, request) else { return .whole(response) }
        var fields: HTTPFields = [:]
        for (name, value) in response.fields where name != ":status" && name != "content-encoding" {
            fields.append(name, value)
        }
        return .whole(HTTPResponse(status: 304, fields: fields))
    }

    /// Returns whether `if-none-match` has an entity tag, by the weak comparison (RFC 9110 §13.1.2).
    private static func hasStored(_ tag: String, _ request: HTTPRequest) -> Bool {
        request.fields.contains { name, value in
            name == "if-none-match"
                && value.split(separator: ",").contains { member in
                    let member = member.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
                    return member == "*" || member == tag || member == "W/" + tag
                }
        }
    }
}
