internal import CPostgreSQL

/// What a statement has found: rows of columns, which are let go of with it.
package final class Rows {
    private let result: OpaquePointer

    /// Takes over libpq's result.
    init(adopting result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    /// How many rows there are.
    package var count: Int { Int(PQntuples(result)) }

    /// The rows, from the first to the last.
    package var all: some Sequence<Row> { (0..<count).lazy.map { Row(rows: self, number: CInt($0)) } }

    /// The first row; nil when there is none.
    package var first: Row? { count > 0 ? Row(rows: self, number: 0) : nil }

    fileprivate func value(_ row: CInt, _ column: Int) -> UnsafeRawBufferPointer? {
        guard column < Int(PQnfields(result)), PQgetisnull(result, row, CInt(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, CInt(column)),
            count: Int(PQgetlength(result, row, CInt(column)))
        )
    }
}

/// One row of what was found.
package struct Row {
    fileprivate let rows: Rows
    fileprivate let number: CInt

    /// An integer of any width, or a flag as 0 or 1; nil when there is none.
    package func optionalInteger(at column: Int) -> Int64? {
        rows.value(number, column).flatMap { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return nil }
            // A flag has one byte; the others' first one has the sign.
            let sign: Int64 = bytes.count > 1 && first & 0x80 != 0 ? -1 : 0
            return bytes.reduce(sign) { $0 << 8 | Int64($1) }
        }
    }

    /// A text; nil when there is none.
    package func optionalText(at column: Int) -> String? {
        rows.value(number, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Bytes, or an identifier's; nil when there are none.
    package func optionalBytes(at column: Int) -> [UInt8]? {
        rows.value(number, column).map { Array($0) }
    }

    /// An integer; 0 when there is none.
    package func integer(at column: Int) -> Int64 { optionalInteger(at: column) ?? 0 }

    /// A text; empty when there is none.
    package func text(at column: Int) -> String { optionalText(at: column) ?? "" }

    /// Bytes; none when there are none.
    package func bytes(at column: Int) -> [UInt8] { optionalBytes(at: column) ?? [] }

    /// A flag; false when there is none.
    package func flag(at column: Int) -> Bool { integer(at: column) != 0 }
}
