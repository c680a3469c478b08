// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether HTTP/2 can carry the text as a header value: it has no control characters except tab, and no space or
    /// tab at
    /// either end.
    ///
    /// A peer treats a request with any other value as malformed and resets its stream.
    ///
    /// Source: RFC 9113 §8.2.1, RFC 9110 §5.5.
    package var isHeaderValue: Bool {
        let (space, tab) = (UInt8(ascii: " "), UInt8(ascii: "\t"))
        guard let first = utf8.first, let last = utf8.last else { return true }
        guard first != space, first != tab, last != space, last != tab else { return false }
        return utf8.allSatisfy { $0 >= space && $0 != 0x7F || $0 == tab }
    }

    /// Whether the text can be a collapse identifier: a header value without any control character.
    package var isCollapseIDText: Bool { isHeaderValue && !utf8.contains(UInt8(ascii: "\t")) }
}
