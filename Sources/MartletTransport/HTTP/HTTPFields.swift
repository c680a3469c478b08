// SPDX-License-Identifier: Apache-2.0

/// Header fields, including pseudo-header fields, in the order of transmission and in one memory block.
///
/// A push has nine fields and its response two or more. One allocation for all of them, instead of two strings for
/// each, keeps the cost of a push low. Names are lower case, as HTTP/2 requires (RFC 9113 §8.2.1).
///
/// It is `@unchecked Sendable` because only a value that is the sole owner of the memory writes to it.
package struct HTTPFields: @unchecked Sendable {
    private var buffer: FieldBuffer?

    /// Creates an empty list.
    package init() {}

    /// Creates an empty list with capacity for this many bytes of fields.
    package init(capacity: Int) {
        buffer = FieldBuffer.make(capacity: capacity)
    }

    package var count: Int { buffer?.extent.count ?? 0 }

    /// Whether there are no fields.
    package var isEmpty: Bool { count == 0 }

    /// The number of bytes that the fields occupy in memory.
    package var byteCount: Int { buffer?.extent.used ?? 0 }

    /// The size of the fields as HTTP/2 counts it: the bytes of each name and value, plus 32 for each field (RFC 9113
    /// §6.5.2).
    package var listSize: Int { buffer?.extent.listSize ?? 0 }

    /// Appends a field.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - value: The value.
    ///   - isIndexed: False for a value that differs in each message: in the peer's small compression table it would
    ///     only evict entries that are used again (RFC 7541 §6.2).
    package mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in
                append(Field(name: name, value: value, isIndexed: isIndexed))
            }
        }
    }

    /// Appends a field whose value is written in place.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - prefix: The beginning of the value.
    ///   - count: The number of bytes after the prefix.
    ///   - isIndexed: Whether the value may be added to the peer's compression table.
    ///   - write: Writes those bytes, which are zero before.
    package mutating func append(
        _ name: StaticString,
        after prefix: StaticString = "",
        count: Int,
        isIndexed: Bool = true,
        writing write: (inout MutableRawSpan) -> Void
    ) {
        let length = prefix.utf8CodeUnitCount + count
        reserveCapacity(for: FieldBuffer.size(ofName: name.utf8CodeUnitCount, value: length))
        name.withUTF8Buffer { name in
            buffer?.append(name, valueLength: length, isIndexed: isIndexed) { value in
                prefix.withUTF8Buffer { value.copyMemory(from: UnsafeRawBufferPointer($0)) }
                let rest = UnsafeMutableRawBufferPointer(rebasing: value[prefix.utf8CodeUnitCount...])
                rest.initializeMemory(as: UInt8.self, repeating: 0)
                var span = rest.mutableBytes
                write(&span)
            }
        }
    }

    mutating func append(_ field: Field) {
        reserveCapacity(for: FieldBuffer.size(ofName: field.name.count, value: field.value.count))
        buffer?.append(field)
    }

    /// Appends all fields of another list.
    package mutating func append(contentsOf other: HTTPFields) {
        reserveCapacity(for: other.byteCount)
        buffer?.append(other.bytes, fieldCount: other.count)
    }

    /// Makes this value the sole owner of its memory, with capacity for this many more bytes.
    private mutating func reserveCapacity(for bytes: Int) {
        let isOwner = isKnownUniquelyReferenced(&buffer)
        let extent = buffer?.extent ?? FieldBuffer.Extent(capacity: 0)
        guard !isOwner || extent.capacity - extent.used < bytes else { return }
        let larger = FieldBuffer.make(capacity: Swift.max(2 * extent.used, extent.used + bytes, 256))
        larger.append(self.bytes, fieldCount: count)
        buffer = larger
    }

    /// Calls `body` with the fields in order; their pointers are valid while this value exists unchanged.
    func withFields<Result>(_ body: (FieldIterator) -> Result) -> Result {
        // Keeps this value alive during the call without another retain.
        defer { withExtendedLifetime(self) {} }
        return body(FieldIterator(remaining: bytes))
    }

    /// The encoded fields; valid while this value exists unchanged.
    private var bytes: UnsafeRawBufferPointer { buffer?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    private func first<Result>(_ name: StaticString, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        withFields { fields in
            for field in fields where field.isNamed(name) {
                return read(field.value)
            }
            return nil
        }
    }

    /// Returns the bytes of the first field with this lower-case name; nil when there is none.
    package func bytes(of name: StaticString) -> [UInt8]? {
        first(name) { Array($0) }
    }

    /// Returns the text of the first field with this lower-case name; bytes that are not UTF-8 are replaced.
    package subscript(name: StaticString) -> String? {
        first(name) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the text after `prefix` in the first field with this lower-case name; nil when the field is missing or
    /// has another prefix.
    package func text(of name: StaticString, after prefix: StaticString) -> String? {
        first(name) { value in
            let start = prefix.utf8CodeUnitCount
            guard value.count >= start, prefix.withUTF8Buffer({ value.starts(with: $0) }) else { return nil }
            return String(decoding: value[start...], as: UTF8.self)
        } ?? nil
    }

    /// The number in `:status`; 0 when it is missing or not a number of three digits.
    package var status: Int {
        first(":status") { digits in
            guard digits.count == 3, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                return 0
            }
            return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        } ?? 0
    }

    /// Returns the first name with one of these prefixes that occurs more than once; nil when there is none.
    package func firstDuplicate(startingWith one: StaticString, or other: StaticString) -> String? {
        withFields { fields in
            var rest = fields
            while let field = rest.next() {
                guard field.isNameStarting(with: one) || field.isNameStarting(with: other) else { continue }
                var later = rest
                while let next = later.next() {
                    if next.hasName(of: field) { return String(decoding: field.name, as: UTF8.self) }
                }
            }
            return nil
        }
    }
}

extension HTTPFields: Hashable {
    /// Returns whether both lists have the same fields in the same order; `isIndexed` is not compared.
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        guard left.count == right.count, left.byteCount == right.byteCount else { return false }
        return left.withFields { left in
            right.withFields { right in
                zip(left, right).allSatisfy { $0.hasName(of: $1) && $0.value.elementsEqual($1.value) }
            }
        }
    }

    /// Hashes the names and values; required by `Hashable`.
    package func hash(into hasher: inout Hasher) {
        withFields { fields in
            for field in fields {
                hasher.combine(field.name.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(field.name))
                hasher.combine(field.value.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(field.value))
            }
        }
    }
}

extension HTTPFields: Sequence {
    /// Returns an iterator over the fields as text, in order.
    package func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        withFields { fields in
            fields.map { field in
                (name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
            }
        }.makeIterator()
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Creates fields from a literal, in its order.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            append(name, value)
        }
    }
}
