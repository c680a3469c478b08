// SPDX-License-Identifier: Apache-2.0

/// Hand-written HTTP/1.1: pipelined requests over one connection, and the complete or partial responses.
package enum RawHTTP1 {
    /// A request.
    package struct Request: Sendable {
        package var method: String
        package var path: String
        package var fields: [String]
        package var body: String

        package init(_ method: String, _ path: String, _ fields: [String] = [], body: String = "") {
            self.method = method
            self.path = path
            self.fields = fields
            self.body = body
        }

        package func bytes(isLast: Bool) -> [UInt8] {
            let all =
                ["\(method) \(path) HTTP/1.1", "host: localhost", "content-length: \(body.utf8.count)"] + fields
                + (isLast ? ["connection: close"] : [])
            return Array((all.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        }
    }

    /// A response.
    package struct Answer: Sendable {
        package var status: Int
        /// The values by lower-case name.
        package var fields: [String: String]
        /// The received part of the body.
        package var body: String
    }

    /// Sends requests over one connection; returns fewer responses than requests if the server closes it.
    package static func ask(_ requests: [Request], at port: UInt16) async -> [Answer] {
        guard let client = try? RawClient(port: port) else { return [] }
        let bytes = requests.enumerated().flatMap { $1.bytes(isLast: $0 == requests.count - 1) }
        async let sent: Void = client.sendAll(bytes)
        let received = await client.bytes()
        await sent
        return answers(in: received)
    }

    /// Parses responses; the body of the last may be incomplete.
    package static func answers(in bytes: [UInt8]) -> [Answer] {
        var answers: [Answer] = []
        var rest = bytes[...]
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            rest = rest[end.upperBound...]
            guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { break }
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                fields[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingPrefix(" ").description
            }
            let body: [UInt8]
            if let length = fields["content-length"].flatMap({ Int($0) }) {
                body = Array(rest.prefix(length))
                rest = rest.dropFirst(length)
            } else {
                body = chunks(&rest)
            }
            answers.append(Answer(status: status, fields: fields, body: String(decoding: body, as: UTF8.self)))
        }
        return answers
    }

    /// Removes a chunked body from the beginning of the bytes.
    private static func chunks(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var body: [UInt8] = []
        while let end = rest.firstRange(of: [13, 10]) {
            let length = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
            rest = rest[end.upperBound...]
            body += rest.prefix(length)
            rest = rest.dropFirst(length + 2)
            if length == 0 { break }
        }
        return body
    }
}
