// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import MartletTransport
import TestSupport
import Testing

@testable import MartletSimulator

/// Which requests of browsers are answered.
@Suite(.timeLimit(.minutes(10))) struct BrowserGuardTests {
    @Test(
        arguments: [
            ([:], true),
            (["host": "apns:8197"], true),
            (["host": "APNS:8197"], true),
            (["host": "localhost:8197"], true),
            (["host": "192.0.2.7:8197"], true),
            (["host": "[::1]"], true),
            (["host": "localhost:"], true),
            (["host": ""], false),
            (["host": ":8197"], false),
            (["host": "[::1]evil"], false),
            (["host": "[::1]:8197:1"], false),
            (["host": "[::1"], false),
            (["host": "[localhost]"], false),
            (["host": "localhost:9696:evil"], false),
            (["host": "localhost:evil"], false),
            (["host": "localhost:65536"], false),
            (["host": "::1"], false),
            (["host": "evil.example:8197"], false),
            (["host": "localhost.evil.example"], false),
            (["host": "127.0.0.1.evil.example:8197"], false),
            (["host": "localhost:8197", "sec-fetch-site": "same-origin"], true),
            (["host": "127.0.0.1:8197", "sec-fetch-site": "none"], true),
            (["host": "[::1]:8197", "sec-fetch-site": "same-origin", "origin": "http://[::1]:8197"], true),
            (["host": "apns:8197", "sec-fetch-site": "same-origin"], true),
            (["host": "localhost:8197", "sec-fetch-site": "cross-site"], false),
            (["host": "localhost:8197", "sec-fetch-site": "same-site"], false),
            (["host": "localhost:8197", "origin": "https://evil.example"], false),
            (["host": "localhost:8197", "origin": "null"], false),
            (["host": "evil.example:8197", "sec-fetch-site": "same-origin"], false),
            (["host": "evil.example:8197", "origin": "http://evil.example:8197"], false),
            (["sec-fetch-site": "same-origin"], false),
            // A proxy in front of the inbox may add TLS and take the default port.
            (["host": "apns", "origin": "https://apns"], true),
            (["host": "apns:443", "origin": "https://apns", "sec-fetch-site": "same-origin"], true),
            (["host": "apns", "origin": "https://apns:443"], true),
            (["host": "APNS:80", "origin": "http://apns"], true),
            (["host": "localhost:8443", "origin": "https://localhost:8443"], true),
            (["host": "apns:8443", "origin": "https://apns"], false),
            (["host": "apns:80", "origin": "https://apns"], false),
            (["host": "apns", "origin": "ftp://apns"], false),
            (["host": "apns", "origin": "https://apns.evil.example"], false),
            (["host": "127.0.0.1:8197", "origin": "https://apns", "x-forwarded-host": "apns"], false),
        ] as [([String: String], Bool)]
    )
    func `only requests of the simulator's own pages are allowed`(headers: [String: String], isAnswered: Bool) {
        var fields: HTTPFields = [:]
        for (name, value) in headers { fields.append(name, value) }
        #expect((BrowserGuard.problem(fields, names: ["apns"]) == nil) == isAnswered)
    }

    @Test(arguments: [
        ["host": "mrt_short"], ["host": "mrt_short:x"], ["host": "apns", "origin": "mrt_short"],
        ["host": "mrt_short", "sec-fetch-site": "cross-site", "origin": "null"],
    ])
    func `a host or an origin that may be a secret is not shown`(headers: [String: String]) {
        var fields: HTTPFields = [:]
        for (name, value) in headers { fields.append(name, value) }
        let detail = BrowserGuard.problem(fields, names: ["apns"])?.detail ?? ""
        #expect(detail.contains("text of ") && !detail.contains("mrt_"), "\(detail)")
    }

    @Test func `two fields for the origin are refused`() {
        let fields: HTTPFields = [
            "host": "localhost:8197", "origin": "http://localhost:8197", "origin": "https://evil.example",
        ]
        #expect(BrowserGuard.problem(fields, names: [])?.status == 400)
    }

    @Test func `a request with another host name is refused`() async throws {
        let bench = try await InboxBench(pushes: 1)
        let answer = try await bench.get("/api/v1/pushes", "-H", "Host: evil.example")
        #expect(answer.status == "403" && answer.body.contains("--name evil.example"), "\(answer.body)")
        #expect(try await bench.get("/livez", "-H", "Host: evil.example").status == "200", "a probe may use any name")
        await bench.apns.stop()
    }

    @Test func `a request of a page with another origin is refused`() async throws {
        let bench = try await InboxBench(pushes: 1)
        let answer = try await bench.get(
            "/api/v1/pushes",
            "--request",
            "DELETE",
            "-H",
            "Origin: https://evil.example"
        )
        #expect(answer.status == "403" && answer.body.contains("a proxy must pass on Host"), "\(answer.body)")
        #expect(await bench.apns.pushes.count == 1)
        #expect(try await bench.get("/", "-H", "Sec-Fetch-Site: cross-site").status == "200", "a link may lead here")
        await bench.apns.stop()
    }
}
