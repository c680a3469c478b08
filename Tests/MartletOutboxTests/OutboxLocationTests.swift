// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

/// Locations that users write, none of which may show a password.
@Suite struct OutboxLocationTests {
    @Test(arguments: [
        ("relay.sqlite", "relay.sqlite"),
        ("/var/lib/a=b/relay.sqlite", "/var/lib/a=b/relay.sqlite"),
        ("postgres://u:SECRET@db:5433/push", "postgresql://u@db:5433/push"),
        ("host=db password=SECRET dbname=push", "postgresql://db/push"),
    ])
    func `a location is shown without secrets`(text: String, description: String) {
        let location = OutboxLocation(text)
        #expect("\(location)" == description)
        #expect(location.violatedRule == nil)
    }

    @Test func `an address with special characters that are not encoded is refused and not shown`() throws {
        let location = OutboxLocation("postgres://u:SEC@RET@db/push")
        #expect("\(location)" == "PostgreSQL")
        #expect(try #require(location.violatedRule).hasSuffix("with special characters percent-encoded"))
    }

    @Test(arguments: ["postgres://u:SEC@RET@localhost/push", "postgres://u:SEC/RET@localhost/push"])
    func `the error of a connection has no part of a password`(address: String) async {
        let error = await #expect(throws: OutboxError.self) { try await OutboxSchema.create(in: address) }
        #expect(error.map { !"\($0)".contains("SEC") && !"\($0)".contains("RET") } == true)
        #expect(error.map { "\($0)".contains("percent-encoded") } == true)
    }
}
