/// Encodes the fields of a connection's requests in HPACK, the compression of HTTP/2 (RFC 7541).
///
/// What requests have in common goes into the peer's table with the first of them and is one octet in those that
/// follow, the provider token included: "Establishing a connection to APNs" lets it be indexed, though the page on
/// requests would have it sent without. nghttp2's own encoder spells it out in each request: 190 octets, packed bit by
/// bit, would be a tenth of what a push costs.
///
/// Other values are sent as they are: the Huffman code (§5.2) would make them a quarter shorter, and take more time
/// than their encryption.
final class HPACKEncoder {
    @exclusivity(unchecked) private var table = HPACKTable()

    /// Takes note of changes of the table's size, as a block announces them (§6.3).
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

    /// Adds the block of a request to the output.
    func encode(_ fields: HTTPFields, to output: inout [UInt8]) {
        // Each has eight octets beside its name and value in memory, and rarely as many for two lengths and an index.
        output.append(addingCapacity: 2 * fields.byteCount) { span in
            span.withUnsafeMutableBufferPointer { memory, count in
                guard let start = UnsafeMutableRawPointer(memory.baseAddress) else { return }
                var writer = HPACKWriter(position: start)
                fields.withFields { fields in
                    for (place, field) in fields.enumerated() { encode(field, at: place, to: &writer) }
                }
                count = writer.position - start
            }
        }
    }

    private func encode(_ field: HTTPFields.Field, at place: Int, to writer: inout HPACKWriter) {
        let match = table.match(field, at: place)
        guard !match.isWhole else { return writer.write(match.index, prefixBits: 7, pattern: 0x80) }
        // A name that the table lacks gets there with its first value, so that only values travel from then on
        // ("Sending notification requests to APNs"). What takes most of the table would push out what is worth more.
        let isToStay =
            (field.isIndexed || match.index == 0) && HPACKTable.size(of: field) <= table.capacity / 4 * 3
        if isToStay {
            writer.write(match.index, prefixBits: 6, pattern: 0x40)
        } else {
            writer.write(match.index, prefixBits: 4, pattern: 0)
        }
        if match.index == 0 { writer.write(field.name) }
        writer.write(field.value)
        if isToStay { table.insert(field) }
    }
}

/// Writes the parts of a block, one behind the other.
private struct HPACKWriter {
    var position: UnsafeMutableRawPointer

    /// Writes a number, of which the first octet has so many bits beside the pattern (§5.1).
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

    /// Writes text behind its length (§5.2).
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
