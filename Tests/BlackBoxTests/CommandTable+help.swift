// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    private static let commands = [
        "send", "live start", "live update", "live end", "broadcast", "channels create", "channels read",
        "channels list", "channels delete", "surface validate", "surface project", "surface migrate", "surface schema",
        "surface example", "surface categories", "surface smoke", "simulate", "relay", "relay check", "relay migrate",
        "relay keys make", "relay status",
        "relay apps", "relay pause", "relay resume", "relay purge", "relay search", "relay jobs",
        "relay surfaces", "relay dead-letters",
        "relay import", "relay export", "relay drain", "relay backup", "relay data check", "ca path", "ca print",
        "healthcheck",
        "token", "doctor", "demo", "completion", "manual", "version",
    ]
    private static let groups = ["live", "channels", "surface", "ca", "relay keys", "relay data"]

    /// Help of the program, of each group and of each command.
    static let help = CommandTable(
        name: "help",
        invocations: [
            Invocation("--help", output: ["Usage: martlet", "Exit status"]),
            Invocation("-h", output: ["Usage: martlet"]),
            Invocation("help", output: ["Usage: martlet"]),
            Invocation("", status: 2, errors: ["Usage: martlet"]),
            Invocation("--version", output: ["martlet "]),
            Invocation("version", output: ["martlet "]),
            Invocation("version --json", json: ["version", "build", "libraries"]),
            Invocation("--help", on: .terminal(columns: 60), output: ["Usage: martlet"]),
            Invocation("--help", on: .terminal(columns: 200), output: ["Usage: martlet"]),
            Invocation("help send", on: .terminal(columns: 80), output: ["--topic"]),
            Invocation(
                "help simulate",
                on: .terminal(columns: 80),
                output: ["--fault", "Values of --fault:", "too-many-errors"]
            ),
            Invocation("sned", status: 2, errors: ["unknown command", "send"]),
            Invocation("help sned", status: 2, errors: ["unknown command", "send"]),
            Invocation("live strat", status: 2, errors: ["live start"]),
            Invocation("relay stauts", status: 2, errors: ["relay status"]),
            Invocation("send --hlep", status: 2, errors: ["--hlep"]),
            Invocation("--foo", status: 2, errors: ["--foo"]),
        ]
            + commands.map { Invocation("\($0) --help", output: ["Usage: martlet \($0)"]) }
            + commands.map { Invocation("help \($0)", output: ["Usage: martlet \($0)"]) }
            + groups.flatMap { group in
                [
                    Invocation("\(group) --help", output: ["Usage: martlet \(group)", "\(group) "]),
                    Invocation("help \(group)", output: ["Usage: martlet \(group)"]),
                    Invocation(group, status: 2, errors: ["martlet \(group)"]),
                ]
            }
    )
}
