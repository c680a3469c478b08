// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The storage of an ``HTTPFields``: for each field a header of eight bytes, its name and its value.
final class FieldBuffer: ManagedBuffer<FieldBuffer.Extent, UInt8> {
    /// The capacity and the part of it that is in use.
    struct Extent {
        var capacity: Int
        var used = 0
        var count = 0

        /// The size of the fields as HTTP/2 counts it, with an overhead of 32 bytes each (RFC 9113 §6.5.2).
        var listSize: Int { used + count * (32 - FieldHeader.byteCount) }
    }

    static func make(capacity: Int) -> FieldBuffer {
        let buffer = FieldBuffer.create(minimumCapacity: capacity) { _ in Extent(capacity: capacity) }
        return unsafeDowncast(buffer, to: FieldBuffer.self)
    }

    static func size(ofName name: Int, value: Int) -> Int {
        FieldHeader.byteCount + name + value
    }

    /// The part in use; read through a pointer, because `header` would check for exclusive access at every read.
    var extent: Extent { withUnsafeMutablePointerToHeader { $0.pointee } }

    var bytes: UnsafeRawBufferPointer {
        withUnsafeMutablePointers { UnsafeRawBufferPointer(start: $1, count: $0.pointee.used) }
    }

    /// Appends a field; the capacity must suffice.
    func append(_ field: HTTPFields.Field) {
        append(field.name, valueLength: field.value.count, isIndexed: field.isIndexed) { value in
            value.copyMemory(from: UnsafeRawBufferPointer(field.value))
        }
    }

    /// Appends a field whose value `write` copies into place; the capacity must suffice.
    func append(
        _ name: UnsafeBufferPointer<UInt8>,
        valueLength: Int,
        isIndexed: Bool,
        _ write: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        withUnsafeMutablePointers { extent, start in
            let header = UnsafeMutableRawPointer(start) + extent.pointee.used
            let nameLength = Int(UInt16(clamping: name.count))
            let value = header + FieldHeader.byteCount + nameLength
            UnsafeMutableRawBufferPointer(start: header + FieldHeader.byteCount, count: nameLength)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(name)[..<nameLength]))
            write(UnsafeMutableRawBufferPointer(start: value, count: valueLength))
            header.storeBytes(
                of: FieldHeader(nameLength: nameLength, valueLength: valueLength, isIndexed: isIndexed).packed,
                as: UInt64.self
            )
            extent.pointee.used += FieldHeader.byteCount + nameLength + valueLength
            extent.pointee.count += 1
        }
    }

    /// Appends the encoded fields of another buffer; the capacity must suffice.
    func append(_ fields: UnsafeRawBufferPointer, fieldCount: Int) {
        withUnsafeMutablePointers { extent, start in
            let room = UnsafeMutableRawBufferPointer(start: start + extent.pointee.used, count: fields.count)
            room.copyMemory(from: fields)
            extent.pointee.used += fields.count
            extent.pointee.count += fieldCount
        }
    }
}

/// The header before each field in the buffer.
private struct FieldHeader {
    static let byteCount = 8

    var nameLength: Int
    var valueLength: Int
    var isIndexed: Bool

    var packed: UInt64 {
        UInt64(nameLength) | (isIndexed ? 0 : 1 << 16) | UInt64(valueLength) << 32
    }
}

extension FieldHeader {
    init(packed: UInt64) {
        nameLength = Int(packed & 0xFFFF)
        isIndexed = packed & (1 << 16) == 0
        valueLength = Int(packed >> 32)
    }
}

extension HTTPFields {
    /// A field as pointers into the buffer.
    struct Field {
        var name: UnsafeBufferPointer<UInt8>
        var value: UnsafeBufferPointer<UInt8>
        var isIndexed: Bool

        func isNamed(_ name: StaticString) -> Bool {
            self.name.count == name.utf8CodeUnitCount && isNameStarting(with: name)
        }

        func isNameStarting(with prefix: StaticString) -> Bool {
            guard let start = name.baseAddress, name.count >= prefix.utf8CodeUnitCount else { return false }
            return memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
        }

        func hasName(of other: Field) -> Bool {
            guard name.count == other.name.count else { return false }
            guard let start = name.baseAddress, let otherStart = other.name.baseAddress else { return name.isEmpty }
            return memcmp(start, otherStart, name.count) == 0
        }
    }

    /// An iterator over the fields in the buffer.
    struct FieldIterator: IteratorProtocol, Sequence {
        var remaining: UnsafeRawBufferPointer

        mutating func next() -> Field? {
            guard let start = remaining.baseAddress, !remaining.isEmpty else { return nil }
            let header = FieldHeader(packed: start.loadUnaligned(as: UInt64.self))
            let name = (start + FieldHeader.byteCount).assumingMemoryBound(to: UInt8.self)
            let size = FieldHeader.byteCount + header.nameLength + header.valueLength
            remaining = UnsafeRawBufferPointer(start: start + size, count: remaining.count - size)
            return Field(
                name: UnsafeBufferPointer(start: name, count: header.nameLength),
                value: UnsafeBufferPointer(start: name + header.nameLength, count: header.valueLength),
                isIndexed: header.isIndexed
            )
        }
    }
}
