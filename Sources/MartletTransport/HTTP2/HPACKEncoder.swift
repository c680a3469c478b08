// SPDX-License-Identifier: Apache-2.0

/// Encodes the request headers of a connection with HPACK, the header compression of HTTP/2 (RFC 7541).
///
/// Fields that requests have in common are added to the peer's table with the first request and take one octet in later
/// ones. This includes the provider token: "Establishing a connection to APNs" permits indexing it, although "Sending
/// notification requests to APNs" recommends sending it without. nghttp2's encoder writes the token in each request:
/// 190 octets, encoded bit by bit, would be a tenth of the cost of a push.
///
/// Other values are sent without the Huffman code (§5.2), which would make them a quarter shorter but take more time
/// than their encryption.
final class HPACKEncoder {
    @exclusivity(unchecked) private var table = HPACKTable()

    /// Applies the changes of the table's size that a block announces (§6.3).
    func resizeTable(_ changes: ArraySlice<UInt8>) {
        var octets = changes.makeIterator()
        while let first = octets.next() {
            let limit: UInt8 = 0x1F
            var capacity = Int(first & limit)
            if first & limit == limit {
                // Seven bits at a time, the lowest first (§5.1).
                var shift = 0
                while shift < 28, let octet = octets.next() {
                    capacity += Int(octet & 0x7F) << shift
                    guard octet & 0x80 != 0 else { break }
                    shift += 7
                }
            }
            table.resize(to: capacity)
        }
    }

    /// Appends the header block of a request to the output.
    func encode(_ fields: HTTPFields, to output: inout [UInt8]) {
        // In memory each field has eight octets besides its name and value; two lengths and an index rarely take as
        // many.
        output.append(addingCapacity: 2 * fields.byteCount) { span in
            span.withUnsafeMutableBufferPointer { memory, count in
                guard let start = UnsafeMutableRawPointer(memory.baseAddress) else { return }
                var writer = HPACKWriter(position: start)
                fields.withFields { fields in
                    for (index, field) in fields.enumerated() { encode(field, at: index, to: &writer) }
                }
                count = writer.position - start
            }
        }
    }

    private func encode(_ field: HTTPFields.Field, at index: Int, to writer: inout HPACKWriter) {
        let match = table.match(field, at: index)
        guard !match.isWhole else { return writer.write(match.index, prefixBits: 7, pattern: 0x80) }
        // A name that is not in the table is added with its first value, so that only values are sent from then on
        // ("Sending notification requests to APNs"). A field that takes most of the table would evict more useful
        // entries.
        let isInserted =
            (field.isIndexed || match.index == 0) && HPACKTable.size(of: field) <= table.capacity / 4 * 3
        if isInserted {
            writer.write(match.index, prefixBits: 6, pattern: 0x40)
        } else {
            writer.write(match.index, prefixBits: 4, pattern: 0)
        }
        if match.index == 0 { writer.write(field.name) }
        writer.write(field.value)
        if isInserted { table.insert(field) }
    }
}

/// Writes the parts of a header block, one after the other.
private struct HPACKWriter {
    var position: UnsafeMutableRawPointer

    /// Writes an integer whose first octet has this many bits besides the pattern (§5.1).
    mutating func write(_ number: Int, prefixBits: Int, pattern: UInt8) {
        let limit = 1 << prefixBits - 1
        guard number >= limit else { return write(octet: pattern | UInt8(truncatingIfNeeded: number)) }
        write(octet: pattern | UInt8(truncatingIfNeeded: limit))
        var rest = number - limit
        while rest >= 0x80 {
            write(octet: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        write(octet: UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a string after its length (§5.2).
    mutating func write(_ text: UnsafeBufferPointer<UInt8>) {
        write(text.count, prefixBits: 7, pattern: 0)
        guard let start = text.baseAddress else { return }
        position.copyMemory(from: start, byteCount: text.count)
        position += text.count
    }

    private mutating func write(octet: UInt8) {
        position.storeBytes(of: octet, as: UInt8.self)
        position += 1
    }
}
