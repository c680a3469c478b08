// SPDX-License-Identifier: Apache-2.0

/// Client input that violates HTTP/2.
package struct MalformedInput: Sendable {
    package let name: String
    package let bytes: [UInt8]

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    private static let opening = RawHTTP2.preface + RawHTTP2.frame(.settings)

    /// Returns inputs that violate HTTP/2.
    ///
    /// - Parameter request: The fields of a valid request, for the inputs that need one.
    /// - Returns: The inputs.
    package static func all(_ request: [UInt8] = RawHTTP2.request) -> [MalformedInput] {
        [
            MalformedInput("HTTP/1.1", Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)),
            MalformedInput("no preface", [UInt8](repeating: 0xFF, count: 200)),
            MalformedInput("half a preface", Array(RawHTTP2.preface.prefix(10))),
            MalformedInput("a frame that is shorter than its length", opening + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1]),
            MalformedInput("SETTINGS of five bytes", RawHTTP2.preface + [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5]),
            MalformedInput("DATA on a stream that is not open", opening + [0, 0, 1, 0, 1, 0, 0, 0, 1, 0]),
            MalformedInput("HEADERS on an even stream", opening + [0, 0, 1, 1, 5, 0, 0, 0, 2, 0x82]),
            MalformedInput("HPACK with an invalid index", opening + RawHTTP2.headers([0xFF, 0xFF, 0xFF, 0x7F])),
            MalformedInput("truncated HPACK", opening + RawHTTP2.headers([0x00, 0x20, 0x61])),
            MalformedInput("fields without a path", opening + RawHTTP2.headers([0x83, 0x86])),
            MalformedInput(
                "a name with uppercase letters",
                opening + RawHTTP2.headers(request + RawHTTP2.literal("Apns-Id", "x"))
            ),
            MalformedInput(
                "a line break in a value",
                opening + RawHTTP2.headers(request + RawHTTP2.literal("apns-id", "a\r\nb"))
            ),
            MalformedInput(
                "text that is not UTF-8",
                opening + RawHTTP2.headers(request + [0, 2, 0x61, 0x62, 2, 0xC3, 0x28])
            ),
            MalformedInput("WINDOW_UPDATE with an increment of 0", opening + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            MalformedInput(
                "WINDOW_UPDATE beyond the maximum window",
                opening + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF]
            ),
            MalformedInput("PING without payload", opening + [0, 0, 0, 6, 0, 0, 0, 0, 0]),
            MalformedInput("CONTINUATION without HEADERS", opening + [0, 0, 1, 9, 4, 0, 0, 0, 1, 0x82]),
            MalformedInput("a frame of an unknown type", opening + [0, 0, 1, 0xEE, 0, 0, 0, 0, 0, 1]),
            MalformedInput(
                "GOAWAY with debug data",
                opening + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [1, 2, 3]
            ),
        ]
    }

    /// Returns a valid request with some random bytes changed.
    package static func changed(
        _ request: [UInt8] = RawHTTP2.request,
        using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var bytes = opening + RawHTTP2.headers(request + RawHTTP2.literal("apns-topic", "a"))
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: RawHTTP2.preface.count..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }
}
