// SPDX-License-Identifier: Apache-2.0

/// Hand-written HTTP/2 frames (RFC 9113 §4.1 and §6).
package enum RawHTTP2 {
    /// The types of frames.
    package enum Kind: UInt8, Sendable {
        case data
        case headers
        case priority
        case resetStream
        case settings
        case pushPromise
        case ping
        case goAway
        case windowUpdate
        case continuation
    }

    /// A received frame.
    package struct Frame: Sendable {
        package var kind: Kind?
        package var flags: UInt8
        package var stream: UInt32
        package var payload: [UInt8]
    }

    package static let endsStream: UInt8 = 1
    package static let isAcknowledgement: UInt8 = 1
    package static let endsFields: UInt8 = 4

    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The preface with empty SETTINGS, with which a client starts a connection.
    package static let greeting = preface + frame(.settings)

    /// Whether a server has sent its SETTINGS and acknowledged the client's.
    package static func isGreeting(_ bytes: [UInt8]) -> Bool {
        frames(in: bytes).count { $0.kind == .settings } >= 2
    }

    package static func frame(
        _ kind: Kind,
        flags: UInt8 = 0,
        stream: UInt32 = 0,
        _ payload: [UInt8] = []
    ) -> [UInt8] {
        bigEndian(UInt32(payload.count)).dropFirst() + [kind.rawValue, flags] + bigEndian(stream) + payload
    }

    /// A HEADERS frame with all fields of a request; `isLast` ends the stream.
    package static func headers(_ block: [UInt8], stream: UInt32 = 1, isLast: Bool = true) -> [UInt8] {
        frame(.headers, flags: isLast ? endsFields | endsStream : endsFields, stream: stream, block)
    }

    /// A literal field without indexing (RFC 7541 §6.2.2).
    package static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + text(name) + text(value)
    }

    /// A literal field with incremental indexing (RFC 7541 §6.2.1).
    package static func remembered(_ name: String, _ value: String) -> [UInt8] {
        [0x40] + text(name) + text(value)
    }

    /// `:method POST`, `:scheme http` and `:authority a`, as HPACK indexes them.
    private static let beginning: [UInt8] = [0x83, 0x86, 0x01, 1, 0x61]
    /// The fields of a push without headers.
    package static let request = post("/3/device/5d3a")
    /// The fields of a request for another path.
    package static func post(_ path: String) -> [UInt8] { beginning + literal(":path", path) }
    /// The fields of the shortest possible request.
    package static let root = beginning + [0x84]

    /// The shortest requests on `count` streams, starting with `stream`.
    package static func requests(_ count: UInt32, from stream: UInt32) -> [UInt8] {
        (0..<count).flatMap { headers(root, stream: stream + 2 * $0) }
    }

    package static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// Parses frames, up to the first incomplete one.
    package static func frames(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let count = head[0..<3].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 9 + count else { break }
            let stream = head[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    kind: Kind(rawValue: head[3]),
                    flags: head[4],
                    stream: stream,
                    payload: Array(rest.dropFirst(9).prefix(count))
                )
            )
            rest = rest.dropFirst(9 + count)
        }
        return frames
    }

    /// A string with its length, which has more than one byte from 127 on (RFC 7541 §5.1 and §5.2).
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}
