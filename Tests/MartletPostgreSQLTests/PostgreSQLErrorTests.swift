// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletPostgreSQL

@Suite struct PostgreSQLErrorTests {
    @Test(arguments: [
        ("08006", PostgreSQLError.Kind.disconnected), ("25006", .unavailable), ("57014", .unavailable),
        ("40001", .conflict), ("40P01", .conflict), ("53100", .full), ("XX001", .corrupt), ("42P01", .undefined),
        ("22012", .other),
    ])
    func `the SQLSTATE of an error decides about its kind`(state: String, kind: PostgreSQLError.Kind) {
        let error = PostgreSQLError(state: state, "COMMIT failed")
        #expect(error.kind == kind && error.state == state && error.isCancelled == (state == "57014"))
        #expect(error.description == "COMMIT failed (\(state))")
    }

    @Test func `an error without an answer of the server has no SQLSTATE`() {
        let lost = PostgreSQLError.disconnected("the connection was lost")
        #expect(lost.kind == .disconnected && lost.state == nil && "\(lost)" == "the connection was lost")
        let silent = PostgreSQLError.noAnswer(for: .milliseconds(1_500))
        #expect(silent.kind == .noAnswer && silent.state == nil && "\(silent)" == "no response within 1500 ms")
    }
}
