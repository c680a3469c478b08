// SPDX-License-Identifier: Apache-2.0

internal import CMartletPostgreSQL

/// A parameter of a statement: a value or an array of values, sent in PostgreSQL's binary format.
package enum Parameter: Sendable {
    case integer(Int64?)
    case text(String?)
    case bytes([UInt8]?)
    case flag(Bool)
    /// A UUID of 16 bytes.
    case identifier([UInt8])
    case integers([Int64?])
    case texts([String?])
    case byteLists([[UInt8]?])
    /// UUIDs of 16 bytes.
    case identifiers([[UInt8]])
    case flags([Bool])

    /// Object identifiers of types (https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat).
    private enum TypeID {
        static let flag: Oid = 16
        static let bytes: Oid = 17
        static let integer: Oid = 20
        static let text: Oid = 25
        static let identifier: Oid = 2_950
        static let flags: Oid = 1_000
        static let byteLists: Oid = 1_001
        static let texts: Oid = 1_009
        static let integers: Oid = 1_016
        static let identifiers: Oid = 2_951
    }

    var type: Oid {
        switch self {
        case .integer: TypeID.integer
        case .text: TypeID.text
        case .bytes: TypeID.bytes
        case .flag: TypeID.flag
        case .identifier: TypeID.identifier
        case .integers: TypeID.integers
        case .texts: TypeID.texts
        case .byteLists: TypeID.byteLists
        case .identifiers: TypeID.identifiers
        case .flags: TypeID.flags
        }
    }

    /// Writes the value; returns false for NULL.
    func write(to output: inout [UInt8]) -> Bool {
        switch self {
        case .integer(let value):
            value.map { output.append(bigEndian: $0) }
            return value != nil
        case .text(let value):
            output += value?.utf8 ?? "".utf8
            return value != nil
        case .bytes(let value):
            output += value ?? []
            return value != nil
        case .flag(let value):
            output.append(value ? 1 : 0)
        case .identifier(let value):
            output += value
        case .integers(let values):
            list(values, of: TypeID.integer, to: &output) { $1.append(bigEndian: $0) }
        case .texts(let values):
            list(values, of: TypeID.text, to: &output) { $1 += $0.utf8 }
        case .byteLists(let values):
            list(values, of: TypeID.bytes, to: &output) { $1 += $0 }
        case .identifiers(let values):
            list(values, of: TypeID.identifier, to: &output) { $1 += $0 }
        case .flags(let values):
            list(values, of: TypeID.flag, to: &output) { $1.append($0 ? 1 : 0) }
        }
        return true
    }

    /// Writes an array of one dimension (`array_send` in PostgreSQL's src/backend/utils/adt/arrayfuncs.c).
    private func list<Element>(
        _ values: [Element?],
        of type: Oid,
        to output: inout [UInt8],
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        output.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        output.append(bigEndian: Int32(values.contains { $0 == nil } ? 1 : 0))
        output.append(bigEndian: type)
        guard !values.isEmpty else { return }
        output.append(bigEndian: Int32(values.count))
        output.append(bigEndian: Int32(1))
        for value in values {
            let start = output.count
            output.append(bigEndian: Int32(-1))
            guard let value else { continue }
            write(value, &output)
            let count = Int32(output.count - start - 4).bigEndian
            withUnsafeBytes(of: count) { output.replaceSubrange(start..<start + 4, with: $0) }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
