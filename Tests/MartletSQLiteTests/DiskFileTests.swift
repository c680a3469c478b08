// SPDX-License-Identifier: Apache-2.0

import MartletSQLite
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DiskFileTests {
    @Test func `the directory of a file is written to the disk`() throws {
        let scratch = try ScratchDirectory()
        try DiskFile.syncDirectory(of: scratch.path + "/test.db")
        try DiskFile.syncDirectory(of: "test.db")
        let error = #expect(throws: SQLiteError.self) {
            try DiskFile.syncDirectory(of: scratch.path + "/missing/test.db")
        }
        #expect(error?.description.contains("cannot open the directory \(scratch.path)/missing/") == true)
    }
}
