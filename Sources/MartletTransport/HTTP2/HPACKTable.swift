// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The indexing tables of HPACK: the static table, and the dynamic table with the fields of earlier blocks (RFC 7541
/// §2.3).
struct HPACKTable {
    /// The result of a search for a field.
    struct Match {
        /// The index of a field with the same name; 0 when there is none.
        var index = 0
        var isWhole = false
    }

    private struct Entry {
        /// The position of the name in `octets`, followed by the value.
        var start: Int
        var nameLength: Int
        var valueLength: Int

        var length: Int { nameLength + valueLength }
    }

    /// The fields of the static table that requests use (appendix A).
    private static let staticFields: [(index: Int, name: String, value: String)] = [
        (1, ":authority", ""), (2, ":method", "GET"), (3, ":method", "POST"), (4, ":path", "/"), (6, ":scheme", "http"),
        (7, ":scheme", "https"), (23, "authorization", ""), (31, "content-type", ""),
    ]
    /// The number of fields in the static table; the newest of the dynamic table has the next index (§2.3.3).
    private static let staticCount = 61
    /// The size of a field in the dynamic table in addition to its octets (§4.1).
    private static let overhead = 32

    /// The maximum size of the dynamic table, initially the default of every peer (RFC 9113 §6.5.2).
    private(set) var capacity = 4_096
    private var used = 0
    /// The static fields, followed by those of the dynamic table, the oldest first.
    private var entries: [Entry] = []
    private var octets: [UInt8] = []
    private let staticIndexes = staticFields.map(\.index)
    /// The positions at which the fields of the last block were found; the next block is usually similar.
    private var lastPositions = [Int](repeating: 0, count: 16)

    init() {
        for field in HPACKTable.staticFields {
            let nameLength = field.name.utf8.count
            entries.append(Entry(start: octets.count, nameLength: nameLength, valueLength: field.value.utf8.count))
            octets += field.name.utf8
            octets += field.value.utf8
        }
    }

    static func size(of field: HTTPFields.Field) -> Int { field.name.count + field.value.count + overhead }

    /// Searches for a field, the one at this position of its block.
    ///
    /// Only the name is compared for a field that is not to be indexed, because its value is new.
    mutating func match(_ field: HTTPFields.Field, at index: Int) -> Match {
        let index = index % lastPositions.count
        if isMatch(field, at: lastPositions[index]) { return found(at: lastPositions[index], isWhole: field.isIndexed) }
        if let position = entries.indices.first(where: { isMatch(field, at: $0) }) {
            lastPositions[index] = position
            return found(at: position, isWhole: field.isIndexed)
        }
        let namesake = entries.indices.first { hasName(of: field, at: $0) }
        return namesake.map { found(at: $0, isWhole: false) } ?? Match()
    }

    /// Adds a field that fits the capacity, and evicts the oldest as needed (§4.4).
    mutating func insert(_ field: HTTPFields.Field) {
        let size = HPACKTable.size(of: field)
        removeOldest(until: capacity - size)
        entries.append(Entry(start: octets.count, nameLength: field.name.count, valueLength: field.value.count))
        octets += field.name
        octets += field.value
        used += size
    }

    /// Changes the capacity, and evicts the oldest as needed (§4.3).
    mutating func resize(to capacity: Int) {
        self.capacity = capacity
        removeOldest(until: capacity)
    }

    private mutating func removeOldest(until limit: Int) {
        let oldest = staticIndexes.count
        while used > limit, oldest < entries.count {
            let entry = entries.remove(at: oldest)
            octets.removeSubrange(entry.start..<entry.start + entry.length)
            for later in oldest..<entries.count { entries[later].start -= entry.length }
            used -= entry.length + HPACKTable.overhead
        }
    }

    // MARK: Lookup

    private func found(at position: Int, isWhole: Bool) -> Match {
        let isStatic = position < staticIndexes.count
        let index = isStatic ? staticIndexes[position] : HPACKTable.staticCount + entries.count - position
        return Match(index: index, isWhole: isWhole)
    }

    private func isMatch(_ field: HTTPFields.Field, at position: Int) -> Bool {
        guard position < entries.count, hasName(of: field, at: position) else { return false }
        guard field.isIndexed else { return true }
        let entry = entries[position]
        return entry.valueLength == field.value.count && has(field.value, at: entry.start + entry.nameLength)
    }

    private func hasName(of field: HTTPFields.Field, at position: Int) -> Bool {
        let entry = entries[position]
        return entry.nameLength == field.name.count && has(field.name, at: entry.start)
    }

    /// Returns whether these octets are at this position, which must be in bounds.
    private func has(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        octets.withUnsafeBufferPointer { octets in
            guard let base = octets.baseAddress, let first = text.baseAddress else { return text.isEmpty }
            return memcmp(base + start, first, text.count) == 0
        }
    }
}
