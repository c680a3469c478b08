// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

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

    private static func output(of session: borrowing HTTP2Session) -> [RawHTTP2.Frame] {
        var output: [UInt8] = []
        while session.writeFrame(to: &output) {}
        return RawHTTP2.frames(in: output)
    }

    /// RFC 9113 §5.1.2 lets a server refuse the stream, and permits no more than that to a client in good faith.
    @Test func `only a stream over the acknowledged limit is refused`() throws {
        let session = try HTTP2Session(
            .server,
            limits: HTTP2Limits(concurrentStreams: 1, bodyBytes: 9, fieldBytes: 8_000)
        )
        let settings = try #require(Self.output(of: session).first { $0.kind == .settings })
        #expect(settings.payload.chunks(of: 6).contains([0, 3, 0, 0, 0, 1]), "MAX_CONCURRENT_STREAMS is 1")
        let acknowledgement = RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement)
        try Self.receive(RawHTTP2.greeting + acknowledgement + RawHTTP2.requests(3, from: 1), session)
        let first = try #require(Self.requests(session).first)
        #expect(first.id == 1)
        let frames = Self.output(of: session)
        #expect(!frames.contains { $0.kind == .goAway })
        let resets = frames.filter { $0.kind == .resetStream }
        #expect(resets.map(\.stream) == [3, 5] && resets.allSatisfy { $0.payload == [0, 0, 0, 7] })
        session.answer(first, with: HTTPResponse(status: 200))
        #expect(Self.output(of: session).contains { $0.kind == .headers && $0.stream == 1 })
        session.allow(concurrentStreams: 2)
        #expect(Self.output(of: session).first?.payload == [0, 3, 0, 0, 0, 2])
        // The refused fields are in the table of both sides all the same.
        try Self.receive(acknowledgement + RawHTTP2.requests(3, from: 7), session)
        #expect(Self.requests(session).map(\.id) == [7, 9])
        #expect(Self.output(of: session).filter { $0.kind == .resetStream }.map(\.stream) == [11])
    }

    @Test func `streams that are opened before the limit was acknowledged are served`() throws {
        let session = try HTTP2Session(
            .server,
            limits: HTTP2Limits(concurrentStreams: 1, bodyBytes: 9, fieldBytes: 8_000)
        )
        try Self.receive(RawHTTP2.greeting + RawHTTP2.requests(1_001, from: 1), session)
        let early = Self.requests(session)
        #expect(early.map(\.id) == (0..<1_000).map { Int32(2 * $0 + 1) })
        #expect(Self.output(of: session).filter { $0.kind == .resetStream }.map(\.stream) == [2_001])
        for stream in early { session.answer(stream, with: HTTPResponse(status: 200)) }
        _ = Self.output(of: session)
        // Each limit counts from its acknowledgement on.
        session.allow(concurrentStreams: 2)
        _ = Self.output(of: session)
        let acknowledgement = RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement)
        try Self.receive(acknowledgement + acknowledgement + RawHTTP2.requests(3, from: 2_003), session)
        #expect(Self.requests(session).map(\.id) == [2_003, 2_005])
    }

    @Test(arguments: [true, false])
    func `a client that acknowledges no SETTINGS gets a GOAWAY`(acknowledges: Bool) throws {
        let session = try HTTP2Session(.server, limits: .test)
        try Self.receive(RawHTTP2.greeting, session)
        let acknowledgement = RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement)
        var goAways: [RawHTTP2.Frame] = []
        var count: UInt32 = 0
        while count < 10_000, goAways.isEmpty {
            count += 1
            session.allow(concurrentStreams: count)
            let frames = Self.output(of: session)
            goAways += frames.filter { $0.kind == .goAway }
            let settings = frames.filter { $0.kind == .settings && $0.flags & RawHTTP2.isAcknowledgement == 0 }
            if acknowledges { for _ in settings { try Self.receive(acknowledgement, session) } }
        }
        #expect(count == (acknowledges ? 10_000 : 2_000))
        // SETTINGS_TIMEOUT (RFC 9113 §7).
        #expect(goAways.map { Array($0.payload[4..<8]) } == (acknowledges ? [] : [[0, 0, 0, 4]]))
        #expect(session.isOver == !acknowledges)
        #expect((session.violation?.description.contains("SETTINGS") ?? false) == !acknowledges)
    }

    @Test func `a refused stream updates the compression table`() throws {
        let session = try HTTP2Session(
            .server,
            limits: HTTP2Limits(concurrentStreams: 1, bodyBytes: 9, fieldBytes: 8_000)
        )
        _ = Self.output(of: session)
        let acknowledgement = RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement)
        let remembered = RawHTTP2.root + RawHTTP2.remembered("apns-topic", "com.example.app")
        try Self.receive(
            RawHTTP2.greeting + acknowledgement + RawHTTP2.headers(RawHTTP2.root, stream: 1)
                + RawHTTP2.headers(remembered, stream: 3),
            session
        )
        let first = try #require(Self.requests(session).first)
        session.answer(first, with: HTTPResponse(status: 200))
        _ = Self.output(of: session)
        // 62 is the first place of the dynamic table (RFC 7541 §2.3.3).
        try Self.receive(RawHTTP2.headers(RawHTTP2.root + [0x80 | 62], stream: 5), session)
        #expect(Self.requests(session).first?.fields["apns-topic"] == "com.example.app")
    }

    /// A frame that is sent over and over, on an open stream, on one that has ended, or on none.
    @Test(arguments: [
        RawHTTP2.frame(.data, stream: 1), RawHTTP2.frame(.data, stream: 3),
        RawHTTP2.frame(.data, flags: 8, stream: 1, [2, 0, 0]),
        RawHTTP2.frame(.windowUpdate, [0, 0, 0, 1]), RawHTTP2.frame(.windowUpdate, stream: 1, [0, 0, 0, 1]),
        RawHTTP2.frame(.windowUpdate, stream: 3, [0, 0, 0, 1]), RawHTTP2.frame(.priority, stream: 1, [0, 0, 0, 0, 1]),
        [0, 0, 0, 0xFA, 0, 0, 0, 0, 0], RawHTTP2.frame(.data, stream: 3, [7]),
    ])
    func `too many frames without effect get ENHANCE_YOUR_CALM`(frame: [UInt8]) throws {
        let session = try HTTP2Session(.server, limits: .test)
        let open = RawHTTP2.headers(RawHTTP2.root, stream: 1, isLast: false)
        try Self.receive(RawHTTP2.greeting + open + RawHTTP2.headers(RawHTTP2.root, stream: 3), session)
        for stream in Self.requests(session) where stream.id == 3 {
            session.answer(stream, with: HTTPResponse(status: 200))
        }
        _ = Self.output(of: session)
        let most = HTTP2FrameBudget.burst
        // In pieces that end within frames.
        let flood = Array(repeatElement(frame, count: most).joined())
        for start in stride(from: 0, to: flood.count, by: 1_001) {
            try Self.receive(flood[start...].prefix(1_001), session)
        }
        #expect(!Self.output(of: session).contains { $0.kind == .goAway })
        for _ in 0..<10 { try Self.receive(frame, session) }
        let goAway = Self.output(of: session).first { $0.kind == .goAway }
        #expect(goAway?.payload.dropFirst(4).prefix(4).elementsEqual([0, 0, 0, 11]) == true)
        let (isOver, violation) = (session.isOver, session.violation)
        #expect(isOver && violation?.description.contains("too many empty DATA") == true)
    }

    @Test(arguments: [false, true])
    func `a header block far over the limit is not decoded to its end`(
        isTrailer: Bool
    ) throws {
        let session = try HTTP2Session(.server, limits: .test)
        let large = RawHTTP2.remembered("a", String(repeating: "a", count: 3_900))
        let first = RawHTTP2.headers(RawHTTP2.root + large, stream: 1, isLast: !isTrailer)
        try Self.receive(RawHTTP2.greeting + first, session)
        let start = isTrailer ? [] : RawHTTP2.root
        // An octet that stands for the field, and an integer with an overflow, which HPACK forbids (RFC 7541 §5.1).
        let references = [UInt8](repeating: 0x80 | 62, count: 10) + [UInt8](repeating: 0xFF, count: 20)
        let bomb = RawHTTP2.headers(start + references, stream: isTrailer ? 1 : 3)
        try Self.receive(bomb + RawHTTP2.requests(1, from: 5), session)
        #expect(Self.requests(session).allSatisfy { $0.id == 1 && $0.isMessageComplete })
        let goAway = Self.output(of: session).first { $0.kind == .goAway }
        // COMPRESSION_ERROR would tell that the overflow was reached.
        #expect(goAway?.payload.dropFirst(4).prefix(4).elementsEqual([0, 0, 0, 11]) == true)
        let (isOver, violation) = (session.isOver, session.violation)
        #expect(isOver && violation?.description.contains("SETTINGS_MAX_HEADER_LIST_SIZE (8000)") == true)
    }

    @Test func `a header block of nearly twice the limit ends no connection`() throws {
        let session = try HTTP2Session(.server, limits: .test)
        let large = RawHTTP2.remembered("a", String(repeating: "a", count: 3_900))
        let block = RawHTTP2.root + large + [0x80 | 62, 0x80 | 62]
        try Self.receive(RawHTTP2.greeting + RawHTTP2.headers(block), session)
        let second = RawHTTP2.root + [0x80 | 62]
        try Self.receive(RawHTTP2.headers(second, stream: 3), session)
        let requests = Self.requests(session)
        #expect(requests.map(\.areFieldsTooLong) == [true, false])
        let isOver = session.isOver
        #expect(!isOver && !Self.output(of: session).contains { $0.kind == .goAway })
    }

    @Test func `streams are refused while too many octets of answers wait for the client`() throws {
        let session = try HTTP2Session(.server, limits: .test)
        let noWindow = RawHTTP2.frame(.settings, [0, 4, 0, 0, 0, 0])
        try Self.receive(RawHTTP2.greeting + noWindow, session)
        var stream: UInt32 = 1
        var answered: [UInt32] = []
        for _ in 0..<20 {
            try Self.receive(RawHTTP2.headers(RawHTTP2.root, stream: stream), session)
            for request in Self.requests(session) {
                session.answer(request, with: HTTPResponse(status: 200, body: [UInt8](repeating: 0, count: 100_000)))
                answered.append(stream)
            }
            stream += 2
        }
        #expect(answered.count == 11, "1 MB and what exceeds it")
        let frames = Self.output(of: session)
        let refusals = frames.filter { $0.kind == .resetStream }
        #expect(refusals.count == 9 && refusals.allSatisfy { $0.payload == [0, 0, 0, 7] })
        #expect(!frames.contains { $0.kind == .data || $0.kind == .goAway })
        // The client makes room and takes all of them.
        let room = RawHTTP2.bigEndian(100_000)
        try Self.receive(RawHTTP2.frame(.windowUpdate, RawHTTP2.bigEndian(2_000_000)), session)
        for stream in answered { try Self.receive(RawHTTP2.frame(.windowUpdate, stream: stream, room), session) }
        let data = Self.output(of: session).filter { $0.kind == .data }
        #expect(data.map(\.payload.count).reduce(0, +) == 1_100_000)
        try Self.receive(RawHTTP2.headers(RawHTTP2.root, stream: stream), session)
        #expect(Self.requests(session).contains { $0.id == Int32(stream) && !$0.isClosed })
    }

    @Test func `5000 small DATA frames are admitted, byte by byte`() throws {
        var budget = HTTP2FrameBudget()
        let octets =
            RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root, stream: 1, isLast: false)
            + Array(repeatElement(RawHTTP2.frame(.data, stream: 1, [1, 2, 3]), count: 5_000).joined())
            + RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1)
        for octet in octets {
            let isAdmitted = withUnsafeBytes(of: octet) { budget.admits($0, at: .zero) }
            guard isAdmitted else {
                Issue.record("refused")
                return
            }
        }
    }

    @Test func `frames in proportion to requests, answers and time are admitted`() throws {
        let session = try HTTP2Session(.server, limits: .test)
        _ = Self.output(of: session)
        let acknowledgement = RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement)
        try Self.receive(RawHTTP2.greeting + acknowledgement, session)
        let update = RawHTTP2.frame(.windowUpdate, [0, 0, 0, 1])
        for number in 0..<UInt32(10_000) {
            let stream = 2 * number + 1
            let ownUpdate = RawHTTP2.frame(.windowUpdate, stream: stream, [0, 0, 0, 1])
            try Self.receive(RawHTTP2.headers(RawHTTP2.root, stream: stream) + ownUpdate + update, session)
            for request in Self.requests(session) {
                session.answer(request, with: HTTPResponse(status: 400, body: [1]))
            }
            let frames = Self.output(of: session)
            #expect(frames.contains { $0.kind == .data } && !frames.contains { $0.kind == .goAway })
            try Self.receive(update + update, session)
        }
        // A frame each millisecond, without any request.
        for index in 0..<Int64(30_000) {
            let now = MonotonicTime(nanoseconds: index * 1_000_000)
            try update.withUnsafeBytes { try session.receive($0, at: now) }
        }
        let isOver = session.isOver
        #expect(!isOver)
    }

    @Test func `an answer to HEAD has no body`() throws {
        let session = try HTTP2Session(.server, limits: .test)
        let head = [UInt8]([0x86, 0x84, 0x01, 1, 0x61]) + RawHTTP2.literal(":method", "HEAD")
        try Self.receive(RawHTTP2.greeting + RawHTTP2.headers(head), session)
        let stream = try #require(Self.requests(session).first)
        session.answer(stream, with: HTTPResponse(status: 405, body: Array("{}".utf8)))
        let frames = Self.output(of: session).filter { $0.stream == 1 }
        #expect(frames.map(\.kind) == [.headers])
        #expect(frames.first.map { $0.flags & RawHTTP2.endsStream } == RawHTTP2.endsStream)
    }

    @Test func `fields in two pieces are complete although another stream ends`() throws {
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

extension Array {
    /// The elements, so many at a time.
    fileprivate func chunks(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
