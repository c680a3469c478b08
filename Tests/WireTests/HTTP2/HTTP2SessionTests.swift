import TestSupport
import Testing

@testable import Wire

@Suite struct HTTP2SessionTests {
    private static func receive(_ bytes: some Collection<UInt8>, _ session: borrowing HTTP2Session) throws {
        let bytes = Array(bytes)
        try bytes.withUnsafeBytes { try session.receive($0, at: .zero) }
    }

    private static func requests(_ session: borrowing HTTP2Session) -> [HTTP2Stream] {
        var events: [HTTP2Event] = []
        session.takeEvents(&events)
        return events.compactMap { if case .request(let stream) = $0 { stream } else { nil } }
    }

    @Test func `fields that come in pieces are whole, whatever ends in between`() throws {
        let session = try HTTP2Session(.server, limits: .test)
        try Self.receive(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root, stream: 1), session)
        let first = try #require(Self.requests(session).first)
        session.answer(first, with: HTTPResponse(status: 200))
        let block = RawHTTP2.request + RawHTTP2.literal("apns-topic", "com.example.app")
        let frame = RawHTTP2.headers(block, stream: 3)
        try Self.receive(frame.prefix(20), session)
        // The answer goes out, and its stream has ended.
        var output: [UInt8] = []
        while session.writeFrame(to: &output) {}
        #expect(first.isClosed)
        try Self.receive(frame.dropFirst(20), session)
        let second = try #require(Self.requests(session).first)
        #expect(second.fields[":path"] == "/3/device/5d3a")
        #expect(second.fields["apns-topic"] == "com.example.app")
    }
}
