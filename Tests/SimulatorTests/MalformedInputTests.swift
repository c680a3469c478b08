import APNsClient
import Simulator
import TestSupport
import Testing

/// Clients that break HTTP/2: the simulator ends their connection or stream, and serves the others.
@Suite(.serialized, .timeLimit(.minutes(1))) struct MalformedInputTests {
    private static let preface = RawHTTP2.preface
    private static let settings = RawHTTP2.frame(.settings)
    private static let request = RawHTTP2.request

    static let inputs: [(String, [UInt8])] = [
        ("HTTP/1.1", Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)),
        ("nothing like a preface", [UInt8](repeating: 0xFF, count: 200)),
        ("half a preface", Array(preface.prefix(10))),
        ("a frame of another length than it says", preface + settings + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1]),
        ("SETTINGS of five bytes", preface + [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5]),
        ("DATA on a stream that is not open", preface + settings + [0, 0, 1, 0, 1, 0, 0, 0, 1, 0]),
        ("HEADERS on an even stream", preface + settings + [0, 0, 1, 1, 5, 0, 0, 0, 2, 0x82]),
        ("HPACK that points nowhere", preface + settings + RawHTTP2.headers([0xFF, 0xFF, 0xFF, 0x7F])),
        ("HPACK cut short", preface + settings + RawHTTP2.headers([0x00, 0x20, 0x61])),
        ("fields without a path", preface + settings + RawHTTP2.headers([0x83, 0x86])),
        ("a name in capitals", preface + settings + RawHTTP2.headers(request + RawHTTP2.literal("Apns-Id", "x"))),
        (
            "a line break in a value",
            preface + settings + RawHTTP2.headers(request + RawHTTP2.literal("apns-id", "a\r\nb"))
        ),
        ("text that is no UTF-8", preface + settings + RawHTTP2.headers(request + [0, 2, 0x61, 0x62, 2, 0xC3, 0x28])),
        ("a window of no growth", preface + settings + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("a window beyond all bounds", preface + settings + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF]),
        ("PING of no bytes", preface + settings + [0, 0, 0, 6, 0, 0, 0, 0, 0]),
        ("CONTINUATION out of nowhere", preface + settings + [0, 0, 1, 9, 4, 0, 0, 0, 1, 0x82]),
        ("a frame of an unknown kind", preface + settings + [0, 0, 1, 0xEE, 0, 0, 0, 0, 0, 1]),
        ("GOAWAY and more", preface + settings + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [1, 2, 3]),
    ]

    @Test(arguments: inputs) func `the simulator outlives it`(name: String, bytes: [UInt8]) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        try await client.send(.alert("before"), to: token, topic: "com.example.app")
        let raw = try RawClient(port: await apns.port)
        raw.send(bytes)
        raw.finish()
        _ = await raw.read()
        try await client.send(.alert("after"), to: token, topic: "com.example.app")
        #expect(Set(await apns.pushes.filter { $0.status == 200 }.map(\.connection)).count == 1)
        await client.close()
        await apns.stop()
    }

    /// Random bytes after a good beginning, and good requests with bytes changed: the same ones in each run.
    @Test(arguments: 0..<40) func `the simulator outlives changed bytes`(seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        for _ in 0..<10 {
            var bytes =
                Self.preface + Self.settings + RawHTTP2.headers(Self.request + RawHTTP2.literal("apns-topic", "a"))
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: Self.preface.count..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            let raw = try RawClient(port: await apns.port)
            raw.send(bytes)
            raw.finish()
            _ = await raw.read()
        }
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        try await client.send(.alert("after"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        await client.close()
        await apns.stop()
    }
}
