// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletTransport

@testable import MartletRelay

/// A collector of OpenTelemetry that stores the requests, and gives the configured answers.
actor Collector {
    private var requests: [HTTPRequest] = []
    private var answers: [HTTPResponse]
    private var waiting: [(path: String, count: Int, CheckedContinuation<[HTTPRequest], Never>)] = []

    /// A collector that gives these answers first, and then takes everything.
    init(_ answers: HTTPResponse...) {
        self.answers = answers
    }

    /// Listens for exports.
    nonisolated func listen() async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0) { await self.take($0) }
    }

    private func take(_ request: HTTPRequest) -> HTTP1Answer {
        requests.append(request)
        waiting.removeAll { path, count, continuation in
            guard exports(to: path).count >= count else { return false }
            continuation.resume(returning: exports(to: path))
            return true
        }
        return .whole(answers.isEmpty ? HTTPResponse(status: 200, body: Array("{}".utf8)) : answers.removeFirst())
    }

    private func exports(to path: String) -> [HTTPRequest] { requests.filter { $0.target == path } }

    /// The exports to a path, once there are so many.
    func exports(to path: String, count: Int) async -> [HTTPRequest] {
        let known = exports(to: path)
        if known.count >= count { return known }
        return await withCheckedContinuation { waiting.append((path, count, $0)) }
    }
}

extension HTTPRequest {
    /// The spans of an export.
    var spans: [JSONValue] {
        let resources = (try? JSONReader.read(body))?["resourceSpans"]?.elements ?? []
        return resources.flatMap { $0["scopeSpans"]?.elements ?? [] }.flatMap { $0["spans"]?.elements ?? [] }
    }
}

extension JSONValue {
    /// The attributes of a span, a number or a resource, by name.
    var attributes: [String: String] {
        let pairs = (self["attributes"]?.elements ?? []).map { attribute in
            let value = attribute["value"]
            return (
                attribute["key"]?.stringValue ?? "",
                value?["stringValue"]?.stringValue ?? value?["intValue"]?.stringValue ?? ""
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
