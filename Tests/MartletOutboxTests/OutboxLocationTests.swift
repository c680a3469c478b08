// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

/// Locations that users write, none of which may show a password.
@Suite struct OutboxLocationTests {
    @Test(arguments: [
        ("relay.sqlite", "relay.sqlite"),
        ("/var/lib/a=b/relay.sqlite", "/var/lib/a=b/relay.sqlite"),
        ("postgresql://relay@db1,db2/push?target_session_attrs=read-write", "postgresql://relay@db1,db2/push"),
        ("postgres://u:SECRET@db:5433/push", "postgresql://u@db:5433/push"),
        ("postgres://u:SEC%3FRET%40%2F%23@[::1]:5433,db:1/push", "postgresql://u@::1:5433,db:1/push"),
        ("postgres://u:SEC#RET@db/push", "postgresql://u@db/push"),
        ("postgres://u:SEC?RET@db/push", "postgresql://u@db/push"),
        ("postgres://u@db/push?password=SECRET&sslmode=require", "postgresql://u@db/push"),
        ("postgres:///push?host=/run/postgresql&user=u", "postgresql://u@/run/postgresql/push"),
        ("host=db password=SECRET dbname=push", "postgresql://db/push"),
        (" password = 'SEC RET' hostaddr=10.0.0.1 port=5 user=u", "postgresql://u@10.0.0.1:5"),
    ])
    func `a location is shown without secrets`(text: String, description: String) {
        let location = OutboxLocation(text)
        #expect("\(location)" == description)
        #expect(location.violatedRule == nil)
    }

    @Test(arguments: [
        "postgres://u:SE@C?RET@db/push", "postgres://u:SEC/RET@db/push",
        "postgres://u:12/SECRET@db/push", "postgres://u:SEC@RET@db/push", "postgres://u:%SECRET@db/push",
        "host=db password=SEC RET", "password='SECRET", "POSTGRES://u:SECRET@db/push", "mysql://u:SECRET@db/push",
    ])
    func `an address with special characters that are not encoded is refused and not shown`(text: String) throws {
        let location = OutboxLocation(text)
        #expect("\(location)" == "PostgreSQL")
        #expect(try #require(location.violatedRule).hasSuffix("with special characters percent-encoded"))
    }

    @Test(arguments: ["postgres://u:SEC@RET@localhost/push", "postgres://u:SEC/RET@localhost/push"])
    func `the error of a connection has no part of a password`(address: String) async {
        let error = await #expect(throws: OutboxError.self) { try await OutboxSchema.migrate(address) }
        #expect(error.map { !"\($0)".contains("SEC") && !"\($0)".contains("RET") } == true)
        #expect(error.map { "\($0)".contains("percent-encoded") } == true)
    }
}
