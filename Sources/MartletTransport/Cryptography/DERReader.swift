// SPDX-License-Identifier: Apache-2.0

/// An iterator over the elements of one level of DER (X.690).
struct DERReader {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let utf8String: UInt8 = 0x0C
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>
    private var isMalformed = false

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Whether all bytes have been read and were valid DER.
    var isAtEnd: Bool { rest.isEmpty && !isMalformed }

    /// Returns the next element; nil at the end, and for bytes that are not valid DER.
    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = rest.popFirst() else { return nil }
        guard let content = nextContent() else {
            isMalformed = true
            return nil
        }
        return (tag, content)
    }

    /// Returns the content of the element whose tag has been read; nil for bytes that are not valid DER.
    private mutating func nextContent() -> ArraySlice<UInt8>? {
        guard let first = rest.popFirst() else { return nil }
        var count = Int(first)
        if first & 0x80 != 0 {
            let lengthCount = first & 0x7F
            // DER has no indefinite lengths (X.690 §10.1), and no element here is longer than four bytes can count.
            guard (1...4).contains(lengthCount) else { return nil }
            count = 0
            for _ in 0..<lengthCount {
                guard let byte = rest.popFirst() else { return nil }
                count = count << 8 | Int(byte)
            }
        }
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
