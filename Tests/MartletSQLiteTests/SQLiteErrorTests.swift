// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MartletSQLite

@Suite(.timeLimit(.minutes(10))) struct SQLiteErrorTests {
    /// The codes `SQLITE_IOERR_WRITE`, `SQLITE_IOERR_READ` and `SQLITE_CONSTRAINT`.
    private static let write: Int32 = 778
    private static let read: Int32 = 266
    private static let constraint: Int32 = 19

    @Test func `a disk error names the system's reason`() {
        let readOnly = SQLiteError(Self.write, "COMMIT: disk I/O error", systemError: EROFS)
        #expect(readOnly.message == "COMMIT: disk I/O error (the file system is read-only)" && readOnly.kind == .disk)
        let broken = SQLiteError(Self.read, "SELECT: disk I/O error", systemError: EIO)
        #expect(broken.message.hasPrefix("SELECT: disk I/O error (") && broken.message.hasSuffix(")"))
        #expect(SQLiteError(Self.read, "disk I/O error", systemError: 0).message == "disk I/O error")
        #expect(SQLiteError(Self.constraint, "not unique", systemError: EROFS).message == "not unique")
    }
}
