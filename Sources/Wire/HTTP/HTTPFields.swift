/// Header fields in the order they travel, pseudo fields included, in one piece of memory.
///
/// A push carries nine fields and is answered with two or more: one allocation for all of them, instead of two
/// strings each, is what keeps the cost of a push low. Names are lower case, as HTTP/2 demands (RFC 9113 §8.2.1).
///
/// It is `@unchecked Sendable` because its memory is written to only by a value that is the sole owner of it.
package struct HTTPFields: @unchecked Sendable {
    private var buffer: FieldBuffer?

    /// No fields.
    package init() {}

    /// No fields yet, with room for this many bytes of them.
    package init(capacity: Int) {
        buffer = FieldBuffer.make(capacity: capacity)
    }

    /// How many fields there are.
    package var count: Int { buffer?.extent.count ?? 0 }

    /// Whether there are none.
    package var isEmpty: Bool { count == 0 }

    /// The number of bytes that the fields take in memory.
    package var byteCount: Int { buffer?.extent.used ?? 0 }

    /// The size of the fields as HTTP/2 counts it: the bytes of each name and value, and 32 for each field (RFC 9113
    /// §6.5.2).
    package var listSize: Int { buffer?.extent.listSize ?? 0 }

    /// Adds a field after the others.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - value: The value.
    ///   - isIndexed: False for a value that is new in each message: in the peer's small compression table it would
    ///     only push out what is worth keeping (RFC 7541 §6.2).
    package mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in
                append(Field(name: name, value: value, isIndexed: isIndexed))
            }
        }
    }

    /// Adds a field whose value is written in place.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - prefix: What the value begins with.
    ///   - count: How many bytes follow it.
    ///   - isIndexed: Whether the value is worth a place in the peer's compression table.
    ///   - write: Writes those bytes, in place of zeros.
    package mutating func append(
        _ name: StaticString,
        after prefix: StaticString = "",
        count: Int,
        isIndexed: Bool = true,
        writing write: (inout MutableRawSpan) -> Void
    ) {
        let length = prefix.utf8CodeUnitCount + count
        makeRoom(for: FieldBuffer.size(ofName: name.utf8CodeUnitCount, value: length))
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
        makeRoom(for: FieldBuffer.size(ofName: field.name.count, value: field.value.count))
        buffer?.append(field)
    }

    /// Adds all fields of another list after these.
    package mutating func append(contentsOf other: HTTPFields) {
        makeRoom(for: other.byteCount)
        buffer?.append(other.bytes, fieldCount: other.count)
    }

    /// Sees to it that the memory is this one's own, and has room for so many more bytes.
    private mutating func makeRoom(for bytes: Int) {
        let isOwner = isKnownUniquelyReferenced(&buffer)
        let extent = buffer?.extent ?? FieldBuffer.Extent(capacity: 0)
        guard !isOwner || extent.capacity - extent.used < bytes else { return }
        let larger = FieldBuffer.make(capacity: Swift.max(2 * extent.used, extent.used + bytes, 256))
        larger.append(self.bytes, fieldCount: count)
        buffer = larger
    }

    /// Lends the fields in order; their pointers are valid as long as this value is not changed or given up.
    func withFields<Result>(_ body: (FieldIterator) -> Result) -> Result {
        // Owned by this value meanwhile, so that it need not be owned once more.
        defer { withExtendedLifetime(self) {} }
        return body(FieldIterator(remaining: bytes))
    }

    /// All fields as they lie in memory; valid as long as this value is not changed or given up.
    private var bytes: UnsafeRawBufferPointer { buffer?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    private func first<Result>(_ name: StaticString, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        withFields { fields in
            for field in fields where field.isNamed(name) {
                return read(field.value)
            }
            return nil
        }
    }

    /// The bytes of the first field of this lower-case name.
    package func bytes(of name: StaticString) -> [UInt8]? {
        first(name) { Array($0) }
    }

    /// The text of the first field of this lower-case name; bytes that are not UTF-8 are replaced.
    package subscript(name: StaticString) -> String? {
        first(name) { String(decoding: $0, as: UTF8.self) }
    }

    /// The text behind a beginning of the first field of this lower-case name; nil when the field is not there, or
    /// begins with something else.
    package func text(of name: StaticString, after prefix: StaticString) -> String? {
        first(name) { value in
            let start = prefix.utf8CodeUnitCount
            guard value.count >= start, prefix.withUTF8Buffer({ value.starts(with: $0) }) else { return nil }
            return String(decoding: value[start...], as: UTF8.self)
        } ?? nil
    }

    /// The number in `:status`; 0 when there is none.
    package var status: Int {
        first(":status") { digits in
            guard digits.count == 3, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                return 0
            }
            return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        } ?? 0
    }

    /// The first name with one of these beginnings that occurs more than once.
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
    /// Whether both have the same fields in the same order; how they are to be compressed does not count.
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        guard left.count == right.count, left.byteCount == right.byteCount else { return false }
        return left.withFields { left in
            right.withFields { right in
                zip(left, right).allSatisfy { $0.hasName(of: $1) && $0.value.elementsEqual($1.value) }
            }
        }
    }

    /// Part of `Hashable`.
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
    /// The fields as text, in order.
    package func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        withFields { fields in
            fields.map { field in
                (name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
            }
        }.makeIterator()
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields from a literal, in its order.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            append(name, value)
        }
    }
}
