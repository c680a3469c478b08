// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// A HEADERS frame at the end of an output buffer, whose header block is appended to it (RFC 9113 §6.2).
struct HTTP2HeadersFrame {
    /// The length in octets of a frame header (§4.1).
    private static let headerLength = 9
    /// The maximum frame size that every peer accepts (§6.5.2).
    private static let longestContent = 16_384

    private let start: Int
    let streamID: Int32

    /// Creates a frame that is about to be appended at this position; nil for a frame of another type.
    init?(_ frame: UnsafeRawBufferPointer, at start: Int) {
        // The client preface, which precedes the first frame, has a space at this position (§3.4).
        guard frame.count >= HTTP2HeadersFrame.headerLength, frame[3] == UInt8(NGHTTP2_HEADERS.rawValue) else {
            return nil
        }
        self.start = start
        streamID = Int32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: Int32.self))
    }

    var blockStart: Int { start + HTTP2HeadersFrame.headerLength }

    /// Writes the block's length into the frame header; the rest of a longer block is moved to CONTINUATION frames
    /// (§6.10).
    func complete(in output: inout [UInt8]) {
        let length = output.count - blockStart
        guard length > HTTP2HeadersFrame.longestContent else { return setLength(length, at: start, in: &output) }
        let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
        output[start + 4] &= ~endHeaders
        setLength(HTTP2HeadersFrame.longestContent, at: start, in: &output)
        let streamID = Array(output[start + 5..<blockStart])
        var rest = Array(output[(blockStart + HTTP2HeadersFrame.longestContent)...])[...]
        output.removeLast(rest.count)
        while !rest.isEmpty {
            let content = rest.prefix(HTTP2HeadersFrame.longestContent)
            rest = rest.dropFirst(content.count)
            let header = output.count
            output += [0, 0, 0, UInt8(NGHTTP2_CONTINUATION.rawValue), rest.isEmpty ? endHeaders : 0]
            output += streamID
            output += content
            setLength(content.count, at: header, in: &output)
        }
    }

    private func setLength(_ length: Int, at header: Int, in output: inout [UInt8]) {
        output[header] = UInt8(truncatingIfNeeded: length >> 16)
        output[header + 1] = UInt8(truncatingIfNeeded: length >> 8)
        output[header + 2] = UInt8(truncatingIfNeeded: length)
    }
}
