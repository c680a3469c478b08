internal import CNghttp2

/// A HEADERS frame at the end of some output, whose block has become longer than its header says
/// (RFC 9113 §6.2, §6.10).
struct HTTP2HeadersFrame {
    /// Octets of a frame before its content (§4.1).
    static let headerLength = 9
    /// No peer may demand shorter frames (§6.5.2).
    private static let longestContent = 16_384

    /// Where its header is.
    let start: Int

    var blockStart: Int { start + HTTP2HeadersFrame.headerLength }

    /// Writes the block's length into the header; what one frame cannot hold goes into others behind it.
    func complete(in output: inout [UInt8]) {
        let length = output.count - blockStart
        guard length > HTTP2HeadersFrame.longestContent else { return setLength(length, at: start, in: &output) }
        let streamID = output[(start + 5)..<blockStart]
        let block = output[blockStart...]
        let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
        output[start + 4] &= ~endHeaders
        setLength(HTTP2HeadersFrame.longestContent, at: start, in: &output)
        output.removeSubrange((blockStart + HTTP2HeadersFrame.longestContent)...)
        var rest = block.dropFirst(HTTP2HeadersFrame.longestContent)
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
