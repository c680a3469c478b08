// SPDX-License-Identifier: Apache-2.0

import MartletPostgreSQL
import Testing

/// Connection strings that users write, none of which may show a password.
@Suite struct ConnectionStringTests {
    @Test(arguments: [
        ("postgresql://relay@db1,db2/push?target_session_attrs=read-write", "postgresql://relay@db1,db2/push"),
        ("postgres://u:SEC%3FRET%40%2F%23@[::1]:5433,db:1/push", "postgresql://u@::1:5433,db:1/push"),
        ("postgres://u:SEC#RET@db/push", "postgresql://u@db/push"),
        ("postgres://u:SEC?RET@db/push", "postgresql://u@db/push"),
        ("postgres://u@db/push?password=SECRET&sslmode=require", "postgresql://u@db/push"),
        ("postgres:///push?host=/run/postgresql&user=u", "postgresql://u@/run/postgresql/push"),
        ("host=db password=SECRET dbname=push", "postgresql://db/push"),
        (" password = 'SEC RET' hostaddr=10.0.0.1 port=5 user=u", "postgresql://u@10.0.0.1:5"),
    ])
    func `a connection string is shown without secrets`(text: String, description: String) {
        #expect(ConnectionString(text)?.description == description)
        #expect(ConnectionString.isIntended(by: text))
    }

    @Test(arguments: [
        "postgres://u:SE@C?RET@db/push", "postgres://u:SEC/RET@db/push",
        "postgres://u:12/SECRET@db/push", "postgres://u:SEC@RET@db/push", "postgres://u:%SECRET@db/push",
        "host=db password=SEC RET", "password='SECRET", "POSTGRES://u:SECRET@db/push", "mysql://u:SECRET@db/push",
    ])
    func `a string with special characters that are not encoded is refused`(text: String) {
        #expect(ConnectionString(text) == nil)
        #expect(ConnectionString.isIntended(by: text))
    }

    @Test(arguments: ["relay.sqlite", "/var/lib/a=b/relay.sqlite", ""])
    func `a path is not meant as a connection string`(text: String) {
        #expect(!ConnectionString.isIntended(by: text))
    }
}
