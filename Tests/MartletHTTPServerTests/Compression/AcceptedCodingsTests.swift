// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import Testing

@testable import MartletHTTPServer

@Suite struct AcceptedCodingsTests {
    private func prefersGzip(_ values: String...) -> Bool {
        var fields: HTTPFields = ["accept": "gzip"]
        for value in values { fields.append("accept-encoding", value) }
        return AcceptedCodings(fields).prefersGzip
    }

    @Test(arguments: [
        "gzip", "x-gzip", "GZip", "gzip, deflate, br", "*", "br;q=1, gzip;q=0.8", "gzip ; Q=1.000", "gzip;q=0.001",
        "identity;q=0.5, gzip;q=0.500", "*;q=0, gzip", ",,gzip,,", "*;q=0.5, identity;q=0", "gzip;q=1.", "br;;, gzip",
    ])
    func `gzip is used when it is worth as much as no coding`(value: String) {
        #expect(prefersGzip(value))
    }

    @Test(arguments: [
        "", "identity", "br, deflate", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "gzip;q=0.5, identity",
        "gzip;q=0.4, identity;q=0.5", "gzipped", "gz ip",
    ])
    func `gzip is not used for a client that does not want it`(value: String) {
        #expect(!prefersGzip(value))
    }

    @Test(arguments: [
        "gzip;q=", "gzip;q", "gzip;q=2", "gzip;q=1.001", "gzip;q=0.0001", "gzip;q=-1", "gzip;q=1e0", "gzip;level=1",
        "gzip;q=0.5;x=1", "gzip;q=\"1\"", "gzip=1", ";q=1", "gzip;q=00", "gzip;q=0.5.5", "gzip;q=١",
    ])
    func `a member that is not valid is ignored`(value: String) {
        #expect(!prefersGzip(value))
        #expect(prefersGzip(value + ", x-gzip"))
    }

    @Test func `several fields are one list`() {
        #expect(prefersGzip("br", "gzip"))
        #expect(!prefersGzip("gzip", "gzip;q=0"))
        #expect(!prefersGzip())
    }

    @Test func `a long list is read to its end`() {
        let many = (0..<20_000).map { "c\($0);q=0.\($0 % 10)" }.joined(separator: ",")
        #expect(prefersGzip(many + ", gzip"))
        #expect(!prefersGzip(String(repeating: ",;=", count: 20_000)))
    }
}
