// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// Commands that show the jobs and the surfaces of a relay that has none.
    static let relayJobs = CommandTable(
        name: "relay jobs and surfaces",
        needsRelay: true,
        invocations: [
            Invocation(
                "relay jobs $relay --app app --key-file operator.key",
                output: ["job  created  state  matched  stored  waiting  outcomes  audience\n"]
            ),
            Invocation(
                "relay jobs list $relay --app app --before 7 --key-file operator.key --json",
                output: [#""jobs":[]"#],
                json: ["jobs"]
            ),
            Invocation(
                "relay jobs $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
                status: 2,
                errors: ["--id requires show or cancel"]
            ),
            Invocation(
                "relay jobs $relay --app app --before 0 --key-file operator.key",
                status: 2,
                errors: ["--before"]
            ),
            Invocation("relay jobs $relay --app other --key-file operator.key", status: 1, errors: ["403"]),
            Invocation(
                "relay jobs show $relay --app app --key-file operator.key",
                status: 2,
                errors: ["show requires --id"]
            ),
            Invocation(
                "relay jobs show $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
                status: 1,
                errors: ["404", "does not exist"]
            ),
            Invocation(
                "relay jobs show $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 --before 9"
                    + " --key-file operator.key",
                status: 2,
                errors: ["--before requires list"]
            ),
            Invocation(
                "relay jobs cancel $relay --app app --key-file operator.key",
                status: 2,
                errors: ["cancel requires --id"]
            ),
            Invocation(
                "relay jobs cancel $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
                status: 1,
                errors: ["404", "does not exist"]
            ),
            Invocation(
                "relay surfaces $relay --app app --key-file operator.key",
                output: ["surface  state  revision  changed  spreading  audience  problem\n"]
            ),
            Invocation(
                "relay surfaces list $relay --app app --limit 300 --after 7 --key-file operator.key --json",
                output: [#"{"surfaces":[],"cursor":7}"#],
                json: ["surfaces", "cursor"]
            ),
            Invocation(
                "relay surfaces $relay --app app --id order-7 --key-file operator.key",
                status: 2,
                errors: ["--id requires show"]
            ),
            Invocation(
                "relay surfaces $relay --app app --limit 0 --key-file operator.key",
                status: 2,
                errors: ["--limit"]
            ),
            Invocation("relay surfaces $relay --app other --key-file operator.key", status: 1, errors: ["403"]),
            Invocation(
                "relay surfaces show $relay --app app --key-file operator.key",
                status: 2,
                errors: ["show requires --id"]
            ),
            Invocation(
                "relay surfaces show $relay --app app --id 'a/../b?c' --key-file operator.key",
                status: 1,
                errors: ["404", "the surface a/../b?c does not exist"]
            ),
            Invocation(
                "relay surfaces show $relay --app app --id 'order 7' --key-file operator.key",
                status: 2,
                errors: ["--id", "visible ASCII"]
            ),
        ]
    )
}
