// SPDX-License-Identifier: Apache-2.0

internal import CMartletPostgreSQL

/// The rows that a statement returned, freed together when the object is destroyed.
package final class Rows {
    private let result: OpaquePointer

    /// Creates rows that own a result of libpq.
    init(adopting result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    /// The number of rows.
    package var count: Int { Int(PQntuples(result)) }

    /// The rows, from the first to the last.
    package var all: some Sequence<Row> { (0..<count).lazy.map { Row(rows: self, number: CInt($0)) } }

    /// The first row; nil when there are no rows.
    package var first: Row? { count > 0 ? Row(rows: self, number: 0) : nil }

    fileprivate func value(_ row: CInt, _ column: Int) -> UnsafeRawBufferPointer? {
        guard column < Int(PQnfields(result)), PQgetisnull(result, row, CInt(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, CInt(column)),
            count: Int(PQgetlength(result, row, CInt(column)))
        )
    }
}

/// A row of a result.
package struct Row {
    fileprivate let rows: Rows
    fileprivate let number: CInt

    /// Returns an integer of any width, or a Boolean as 0 or 1; nil for NULL.
    package func optionalInteger(at column: Int) -> Int64? {
        rows.value(number, column).flatMap { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return nil }
            // A Boolean has one byte; in all other types the first byte has the sign.
            let sign: Int64 = bytes.count > 1 && first & 0x80 != 0 ? -1 : 0
            return bytes.reduce(sign) { $0 << 8 | Int64($1) }
        }
    }

    /// Returns text; nil for NULL.
    package func optionalText(at column: Int) -> String? {
        rows.value(number, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the bytes of a `bytea` or a UUID; nil for NULL.
    package func optionalBytes(at column: Int) -> [UInt8]? {
        rows.value(number, column).map { Array($0) }
    }

    /// Returns an integer; 0 for NULL.
    package func integer(at column: Int) -> Int64 { optionalInteger(at: column) ?? 0 }

    /// Returns text; empty for NULL.
    package func text(at column: Int) -> String { optionalText(at: column) ?? "" }

    /// Returns bytes; empty for NULL.
    package func bytes(at column: Int) -> [UInt8] { optionalBytes(at: column) ?? [] }

    /// Returns a Boolean; false for NULL.
    package func flag(at column: Int) -> Bool { integer(at: column) != 0 }
}
