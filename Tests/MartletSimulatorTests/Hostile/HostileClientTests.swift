// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

/// Malicious clients within the rules of HTTP/2: the simulator answers or closes, bounds its memory, and serves others.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileClientTests {
    /// The frames of a client, and the required reaction of the simulator.
    struct Attack: CustomTestStringConvertible {
        /// The simulator's reaction.
        enum Reaction {
            /// It ends the connection.
            case ends
            /// It answers and goes on.
            case answers
            /// The simulator accepts the frames, because they are cheap.
            case takes
        }

        var testDescription: String
        var reaction: Reaction
        var bytes: @Sendable () -> [UInt8]

        init(_ name: String, _ reaction: Reaction, _ bytes: @escaping @Sendable () -> [UInt8]) {
            testDescription = name
            self.reaction = reaction
            self.bytes = bytes
        }
    }

    private static func times(_ count: Int, _ frame: [UInt8]) -> [UInt8] {
        Array(repeatElement(frame, count: count).joined())
    }

    /// A request with fields in as many frames as they take, and without a body.
    private static func block(_ bytes: [UInt8], stream: UInt32 = 1) -> [UInt8] {
        var frames: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 16_384) {
            let piece = Array(bytes[start...].prefix(16_384))
            let flags =
                (start + piece.count == bytes.count ? RawHTTP2.endsFields : 0) | (start == 0 ? RawHTTP2.endsStream : 0)
            frames += RawHTTP2.frame(start == 0 ? .headers : .continuation, flags: flags, stream: stream, piece)
        }
        return frames
    }

    private static func streams(_ count: Int, _ frames: (UInt32) -> [UInt8]) -> [UInt8] {
        (0..<UInt32(count)).flatMap { frames(2 * $0 + 1) }
    }

    static let attacks = [
        Attack("one field of 64 kB", .ends) {
            block(RawHTTP2.request + RawHTTP2.literal("apns-topic", String(repeating: "a", count: 64_000)))
        },
        Attack("thousands of small fields", .ends) {
            block(RawHTTP2.request + times(20_000, RawHTTP2.literal("a", "b")))
        },
        Attack("fields just over the bound, on a hundred streams", .answers) {
            streams(100) {
                block(RawHTTP2.request + RawHTTP2.literal("a", String(repeating: "b", count: 8_001)), stream: $0)
            }
        },
        Attack("CONTINUATION without end", .ends) {
            RawHTTP2.frame(.headers, stream: 1, RawHTTP2.request)
                + times(10_000, RawHTTP2.frame(.continuation, stream: 1, RawHTTP2.literal("a", "b")))
        },
        Attack("empty CONTINUATION without end", .ends) {
            RawHTTP2.frame(.headers, stream: 1, RawHTTP2.request)
                + times(100_000, RawHTTP2.frame(.continuation, stream: 1))
        },
        Attack("an entry of the table, referenced a million times", .ends) {
            let large = RawHTTP2.remembered("a", String(repeating: "b", count: 4_000))
            let references = [UInt8](repeating: 0xBE, count: 100_000)
            return streams(10) { block(RawHTTP2.request + ($0 == 1 ? large : []) + references, stream: $0) }
        },
        Attack("requests that are reset at once", .ends) {
            streams(10_000) {
                RawHTTP2.headers(RawHTTP2.request, stream: $0)
                    + RawHTTP2.frame(.resetStream, stream: $0, RawHTTP2.bigEndian(8))
            }
        },
        Attack("requests before the bound on streams is agreed on", .takes) {
            streams(50_000) { RawHTTP2.headers(RawHTTP2.root, stream: $0, isLast: false) }
        },
        Attack("SETTINGS without end", .takes) { times(100_000, RawHTTP2.frame(.settings)) },
        Attack("SETTINGS of many values", .ends) {
            RawHTTP2.frame(.settings, times(1_000, [0, 4, 0, 0, 0xFF, 0xFF]))
        },
        Attack("PING without end", .takes) { times(100_000, RawHTTP2.frame(.ping, times(8, [7]))) },
        Attack("empty DATA without end", .ends) {
            RawHTTP2.headers(RawHTTP2.request, isLast: false) + times(200_000, RawHTTP2.frame(.data, stream: 1))
        },
        Attack("WINDOW_UPDATE without end", .ends) {
            times(100_000, RawHTTP2.frame(.windowUpdate, RawHTTP2.bigEndian(1)))
        },
        Attack("PRIORITY without end", .ends) {
            streams(100_000) { RawHTTP2.frame(.priority, stream: $0, [0, 0, 0, 0, 15]) }
        },
        Attack("GOAWAY without end", .takes) {
            times(200, RawHTTP2.frame(.goAway, [UInt8](repeating: 0, count: 16_384)))
        },
        Attack("a body that is longer than any push", .takes) {
            RawHTTP2.headers(RawHTTP2.request, isLast: false)
                + times(4, RawHTTP2.frame(.data, stream: 1, [UInt8](repeating: 7, count: 16_000)))
        },
    ]

    @Test(arguments: attacks, Witness.Target.allCases)
    func `an attack has no effect on other clients`(attack: Attack, target: Witness.Target) async throws {
        let witness = try await Witness(of: target)
        let raw = try RawClient(port: witness.port)
        let bytes = RawHTTP2.greeting + attack.bytes()
        async let sent: Void = raw.sendAll(bytes)
        async let received = raw.bytes()
        try await witness.isServed()
        await sent
        try await witness.isServed()
        if attack.reaction != .ends { raw.finish() }
        let kinds = RawHTTP2.frames(in: await received).map(\.kind)
        switch attack.reaction {
        case .ends: #expect(await raw.isClosedByPeer())
        case .answers: #expect(kinds.contains(.headers) && !kinds.contains(.goAway))
        case .takes: break
        }
        try await witness.finish()
    }

    /// A client that sends requests and does not read the answers.
    @Test(arguments: [
        ("PING", RawHTTP2.frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8])), ("SETTINGS", RawHTTP2.frame(.settings)),
        ("requests", []),
    ])
    func `the simulator stops reading from a client that does not read`(what: String, frame: [UInt8]) async throws {
        let witness = try await Witness()
        let raw = try RawClient(port: witness.simulator.port, receiveBuffer: 4_096)
        raw.send(RawHTTP2.greeting)
        var stream: UInt32 = 1
        let isStalled = try await raw.stall {
            defer { stream += 8_000 }
            return frame.isEmpty ? RawHTTP2.requests(4_000, from: stream) : Self.times(4_000, frame)
        } turn: {
            // A push there and back is a turn of the simulator's loop.
            try await witness.isServed()
        }
        #expect(isStalled)
        try await witness.finish()
    }

    @Test func `incomplete connections do not delay other clients`() async throws {
        for isEncrypted in [false, true] {
            let witness = try await Witness(isEncrypted: isEncrypted)
            let beginnings: [[UInt8]] = [
                [], [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], Array(RawHTTP2.preface.prefix(10)), RawHTTP2.preface,
                RawHTTP2.greeting, RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.request, isLast: false),
                RawHTTP2.greeting + RawHTTP2.frame(.headers, stream: 1, RawHTTP2.request),
                RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.request, isLast: false)
                    + RawHTTP2.frame(.data, stream: 1, [0x7B]),
            ]
            var crowd: [RawClient] = []
            for number in 0..<400 {
                let raw = try RawClient(port: witness.simulator.port)
                raw.send(beginnings[number % beginnings.count])
                crowd.append(raw)
            }
            try await witness.isServed()
            crowd = []
            try await witness.finish(within: 32 << 20)
        }
    }

    /// The same bytes in each run, on every port, after a good beginning or none.
    @Test(arguments: [false, true]) func `random bytes do not affect other clients`(isEncrypted: Bool) async throws {
        var random = SplitMix64(state: 20)
        let witness = try await Witness(isEncrypted: isEncrypted)
        let simulator = witness.simulator
        let beginnings = [
            [], RawHTTP2.greeting, [0x16, 3, 1, 0x10, 0, 1, 0, 0x0F, 0xFC, 3, 3], Array("GET / HTTP/1.1\r\n".utf8),
            Array("POST /api/v1/lint HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n".utf8),
        ]
        for port in [simulator.port, simulator.channelPort, simulator.inboxPort] {
            for beginning in beginnings {
                for _ in 0..<10 {
                    let raw = try RawClient(port: port)
                    let count = Int.random(in: 0..<5_000, using: &random)
                    raw.send(beginning + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                    raw.finish()
                    _ = await raw.bytes()
                }
            }
        }
        try await witness.finish()
    }
}
