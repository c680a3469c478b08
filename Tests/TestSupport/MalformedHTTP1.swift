// SPDX-License-Identifier: Apache-2.0

/// Requests that violate HTTP/1.1.
package enum MalformedHTTP1 {
    /// Requests that a proxy could parse differently, or that violate the grammar, with the expected status.
    package static let requests: [(text: String, status: Int)] = [
        // Ambiguous length of the body.
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 501),
        ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        // Ambiguous end or name of a field.
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\na", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\n Content-Length: 1\r\n\r\na", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n continued\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\u{0}: 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\u{0}2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX(: 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
        // No host, or more than one.
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
        // Request lines.
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400), ("GET\r\n\r\n", 400), ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", 400), ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /ä HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", 417),
    ]
}
