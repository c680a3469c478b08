internal import CNghttp2

/// The SETTINGS entry that limits the streams of a server's client, kept from nghttp2.
///
/// nghttp2 ends the connection when a client exceeds a limit that it has acknowledged. RFC 9113 §5.1.2 also permits
/// REFUSED_STREAM for the one stream, after which the client may retry. So nghttp2 gets the limit under an identifier
/// that means nothing to it, the frame is written with the real one, and the session refuses streams by itself.
enum HTTP2StreamLimit {
    /// An identifier that no specification assigns (RFC 9113 §11.3).
    private static let placeholder: UInt16 = 0xFA03
    /// Octets of a frame before its content (§4.1), and of an entry (§6.5.1).
    private static let headerLength = 9
    private static let entryLength = 6

    /// The entry to submit to nghttp2.
    static func entry(_ limit: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(placeholder), value: limit)
    }

    /// Writes the real identifier into a SETTINGS frame.
    ///
    /// - Parameters:
    ///   - output: The output, which ends with a whole frame of any type.
    ///   - start: Where the frame begins.
    static func writeIdentifier(into output: inout [UInt8], from start: Int) {
        guard output.count >= start + headerLength, output[start + 3] == UInt8(NGHTTP2_SETTINGS.rawValue) else {
            return
        }
        let identifier = UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
        for entry in stride(from: start + headerLength, to: output.count, by: entryLength)
        where output[entry] == UInt8(placeholder >> 8) && output[entry + 1] == UInt8(placeholder & 0xFF) {
            output[entry] = UInt8(identifier >> 8)
            output[entry + 1] = UInt8(identifier & 0xFF)
        }
    }
}
