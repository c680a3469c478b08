// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport
internal import MartletZlib

/// The gzip coding of whole responses (RFC 9110 §8.4.1.3); server-sent events and other streamed bodies are never
/// compressed, because an event must not wait in a compressor.
extension HTTPResponse {
    /// The size in bytes from which on a body is compressed; a smaller one fits into one packet.
    static let smallestCompressedBody = 1_024
    /// The level of responses that are compressed for one client: about 100 MB/s, and a fifth of the size of JSON.
    private static let level = 1
    /// The level of responses that are compressed once.
    private static let bestLevel = 9
    /// The number of bytes that are compressed in one step, in about a millisecond.
    private static let stepSize = 128 << 10

    /// Returns the response as a client should get it: compressed when it accepts that and the body is suitable.
    ///
    /// The work is done in steps of about a millisecond, between which other tasks can run. A task that is cancelled
    /// gets the response unchanged.
    func coded(for request: HTTPRequest) async -> HTTPResponse {
        guard isCompressible else { return self }
        var response = self
        response.fields.append("vary", "accept-encoding")
        guard AcceptedCodings(request.fields).prefersGzip, var stream = GzipStream(level: HTTPResponse.level) else {
            return response
        }
        var compressed: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let step = rest.prefix(HTTPResponse.stepSize)
            rest = rest.dropFirst(HTTPResponse.stepSize)
            stream.compress(step, isLast: rest.isEmpty, into: &compressed)
            guard !rest.isEmpty else { break }
            if Task.isCancelled { return response }
            await Task.yield()
        }
        return response.replacingBody(with: compressed)
    }

    /// The compressed response, made with the best compression; nil when the body is not suitable.
    var compressed: HTTPResponse? {
        guard isCompressible, var stream = GzipStream(level: HTTPResponse.bestLevel) else { return nil }
        var compressed: [UInt8] = []
        stream.compress(body[...], isLast: true, into: &compressed)
        guard compressed.count < body.count else { return nil }
        return replacingBody(with: compressed)
    }

    private func replacingBody(with compressed: [UInt8]) -> HTTPResponse {
        guard compressed.count < body.count else { return self }
        var response = HTTPResponse(fields: fields, body: compressed)
        response.fields.append("content-encoding", "gzip")
        return response
    }

    /// Whether the body is large enough and of a type that compression makes smaller; false for a response that was
    /// selected by the request's fields, which is coded already.
    private var isCompressible: Bool {
        guard body.count >= HTTPResponse.smallestCompressedBody, fields["vary"] == nil,
            let type = fields["content-type"]
        else { return false }
        return HTTPResponse.compressibleTypes.contains { type.hasPrefix($0) }
    }

    /// The beginnings of the media types of text, which may be followed by parameters.
    private static let compressibleTypes = [
        "application/json", "application/problem+json", "text/plain", "text/html", "text/css", "text/javascript",
        "text/markdown",
    ]
}
