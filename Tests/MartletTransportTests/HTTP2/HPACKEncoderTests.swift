// SPDX-License-Identifier: Apache-2.0

import CMartletNghttp2
import MartletCore
import TestSupport
import Testing

@testable import MartletTransport

/// Tests of the encoder with the decoder of nghttp2.
@Suite struct HPACKEncoderTests {
    private static let push: HTTPFields = [
        ":method": "POST", ":scheme": "https", ":authority": "api.push.apple.com", "apns-topic": "com.example.app",
        "authorization": "bearer " + String(repeating: "x", count: 190),
    ]

    private static func block(of fields: HTTPFields, _ encoder: HPACKEncoder) -> [UInt8] {
        var block: [UInt8] = []
        encoder.encode(fields, to: &block)
        return block
    }

    @Test func `a repeated field takes one octet`() throws {
        let encoder = HPACKEncoder()
        let decoder = try FieldDecoder()
        for number in 0..<3 {
            var fields = Self.push
            fields.append(":path", "/3/device/\(number)", isIndexed: false)
            fields.append("apns-id", "00000000-0000-4000-8000-00000000000\(number)", isIndexed: false)
            let block = Self.block(of: fields, encoder)
            #expect(try decoder.fields(of: block) == fields)
            // Five fields, and two values with their lengths and their names' numbers, of which one is above 14.
            if number > 0 { #expect(block.count == 5 + (2 + 11) + (3 + 36)) }
        }
    }

    @Test func `a field that exceeds the table is encoded as a literal`() throws {
        let encoder = HPACKEncoder()
        let decoder = try FieldDecoder()
        for length in [0, 1, 126, 127, 128, 3_000, 3_200, 5_000, 20_000, 60_000] {
            let fields: HTTPFields = ["apns-long": String(repeating: "y", count: length), "apns-topic": "t"]
            let blocks = (0..<2).map { _ in Self.block(of: fields, encoder) }
            for block in blocks { #expect(try decoder.fields(of: block) == fields) }
            // Each is an octet then, or spelled out behind two numbers and before the other's octet.
            #expect(length <= 3_000 ? blocks[1].count == 2 : blocks[1].count > length + 2)
            #expect(blocks[1].last.map { $0 & 0x80 } == 0x80)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `fields are decoded unchanged with any table size`(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let encoder = HPACKEncoder()
        let decoder = try FieldDecoder()
        for _ in 0..<200 {
            var changes: [UInt8] = []
            if Int.random(in: 0..<10, using: &random) == 0 {
                let capacity = [0, 30, 31, 100, 300, 1_000, 4_096].randomElement(using: &random) ?? 0
                changes = Self.change(to: capacity)
                decoder.allow(tableSize: capacity)
                encoder.resizeTable(changes[...])
            }
            var fields = HTTPFields()
            for _ in 0..<Int.random(in: 1..<24, using: &random) {
                let name = [":path", ":method", "apns-id", "apns-topic", "authorization", "x", "content-type"]
                    .randomElement(using: &random)
                let length = Int.random(in: 0..<300, using: &random)
                let value = [String(repeating: "z", count: length), "POST", "/", "", "\(length % 5)"]
                    .randomElement(using: &random)
                fields.append(name ?? "", value ?? "", isIndexed: .random(using: &random))
            }
            #expect(try decoder.fields(of: changes + Self.block(of: fields, encoder)) == fields)
        }
    }

    /// The announcement of a table's size (RFC 7541 §6.3).
    private static func change(to capacity: Int) -> [UInt8] {
        guard capacity >= 31 else { return [0x20 | UInt8(capacity)] }
        let rest = capacity - 31
        return rest < 128 ? [0x3F, UInt8(rest)] : [0x3F, UInt8(rest & 0x7F) | 0x80, UInt8(rest >> 7)]
    }

    @Test(arguments: [[0], [200], [4_096], [65_536], [0, 4_096], [300, 0, 250]])
    func `the encoder follows the table size of the server`(tableSizes: [Int]) throws {
        let session = try HTTP2Session(.client, limits: .test)
        let decoder = try FieldDecoder()
        for number in 0..<6 {
            for tableSize in number == 3 ? tableSizes : [] {
                let setting: [UInt8] = [0, 1] + RawHTTP2.bigEndian(UInt32(tableSize))
                let settings = RawHTTP2.frame(.settings, setting)
                try settings.withUnsafeBytes { try session.receive($0, at: .zero) }
                decoder.allow(tableSize: tableSize)
            }
            let frames = try Self.frames(of: Self.push, on: session)
            let headers = try #require(frames.last)
            #expect(headers.kind == .headers)
            #expect(try decoder.fields(of: headers.payload) == Self.push)
        }
    }

    @Test func `a request that is reset before it is written has no effect`() throws {
        let session = try HTTP2Session(.client, limits: .test)
        let decoder = try FieldDecoder()
        _ = try decoder.fields(of: #require(Self.frames(of: Self.push, on: session).last).payload)
        let other: HTTPFields = [":method": "GET", "apns-topic": "com.example.other"]
        let unwanted = HTTP2Stream(sending: other)
        try session.open(unwanted)
        session.reset(unwanted, .cancel)
        for fields in [other, Self.push] {
            let frames = try Self.frames(of: fields, on: session)
            let headers = frames.filter { $0.kind == .headers }
            #expect(headers.count == 1)
            #expect(try decoder.fields(of: #require(headers.first).payload) == fields)
        }
    }

    @Test func `fields that exceed a frame continue in CONTINUATION frames`() throws {
        let session = try HTTP2Session(.client, limits: .test)
        let fields: HTTPFields = [":method": "POST", "x": String(repeating: "y", count: 40_000)]
        let frames = try Self.frames(of: fields, on: session).drop { $0.kind != .headers }
        #expect(frames.map(\.kind) == [.headers, .continuation, .continuation])
        #expect(frames.dropLast().map(\.payload.count) == [16_384, 16_384])
        #expect(frames.map { $0.flags & RawHTTP2.endsFields != 0 } == [false, false, true])
        #expect(frames.allSatisfy { $0.stream == 1 })
        #expect(try FieldDecoder().fields(of: frames.flatMap(\.payload)) == fields)
    }

    private static func frames(of fields: HTTPFields, on session: borrowing HTTP2Session) throws -> [RawHTTP2.Frame] {
        try session.open(HTTP2Stream(sending: fields))
        var output: [UInt8] = []
        while session.writeFrame(to: &output) {}
        if output.starts(with: RawHTTP2.preface) { output.removeFirst(RawHTTP2.preface.count) }
        return RawHTTP2.frames(in: output)
    }
}

/// nghttp2's decoder.
private final class FieldDecoder {
    private let inflater: OpaquePointer

    init() throws {
        var inflater: OpaquePointer?
        nghttp2_hd_inflate_new(&inflater)
        self.inflater = try #require(inflater)
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
    }

    /// Has the encoder announce this size, or a smaller one, before it goes on.
    func allow(tableSize: Int) {
        nghttp2_hd_inflate_change_table_size(inflater, tableSize)
    }

    func fields(of block: [UInt8]) throws -> HTTPFields {
        var fields = HTTPFields()
        var rest = block[...]
        while true {
            var field = nghttp2_nv()
            var flags: CInt = 0
            let count = rest.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
            }
            try #require(count >= 0, "nghttp2 cannot decode it: \(nghttp2Message(CInt(count)))")
            rest = rest.dropFirst(count)
            if flags & CInt(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    String(decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self),
                    String(decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
                )
            }
            if flags & CInt(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
    }
}
