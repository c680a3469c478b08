// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// The requests of `--title Hi` for the devices of the file tokens.txt.
    private static let toEach: [[String]] =
        ["5d3a6a1c8f9a42d6", "5d3a6a1c8f9a42d7", "5d3a6a1c8f9a42d8"].map { ["device: \($0)\n", hi] }

    /// Lists of devices.
    static let sendMany = CommandTable(
        name: "send --tokens",
        invocations: [
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi",
                output: ["accepted", "3"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --json",
                output: [#""accepted":3"#, #""not-sent":0"#],
                json: ["accepted", "refused", "not-sent"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens - --title Hi < tokens.txt",
                output: ["accepted"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi",
                on: .terminal(columns: 80),
                output: ["accepted"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens devices.csv --title Hi",
                output: ["accepted"],
                sent: [["device: 5d3a6a1c8f9a42d6", #""badge":3"#], ["device: 5d3a6a1c8f9a42d7", #""badge":4"#]]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --rate 100",
                output: ["accepted", "3", "devices per second"],
                sent: toEach
            ),
            Invocation("send $server --topic com.example.app --tokens tokens.txt --title Hi --dry-run", output: ["3"]),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --dry-run --json",
                output: [#""devices":3"#, #""would-be-refused":0"#],
                json: ["devices", "bad-lines"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi"
                    + " --results r.jsonl --unregistered-tokens d.csv",
                output: ["accepted"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens-unregistered.txt --title Hi",
                status: 1,
                output: ["Unregistered"],
                sent: [["device: 5d3a6a1c8f9a42d6"], ["device: 5d3a00dead"]]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens-unregistered.txt --title Hi --json",
                status: 1,
                output: [#""accepted":1,"refused":1"#, #""Unregistered":1"#],
                json: ["accepted", "refused", "reasons"],
                sent: [["device: 5d3a6a1c8f9a42d6"], ["device: 5d3a00dead"]]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --rate 0",
                status: 2,
                errors: ["--rate", "0"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --rate -1",
                status: 2,
                errors: ["--rate", "-1"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens-bad.txt --title Hi",
                status: 2,
                errors: ["line 2"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens-bad.txt --title Hi --skip-bad-lines",
                output: ["accepted"],
                errors: ["line 2"],
                sent: [["device: 5d3a6a1c8f9a42d6"]]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens devices-bad.csv --title Hi",
                status: 2,
                errors: ["line 2", "badge", "three"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens no-heading.csv --title Hi",
                status: 2,
                errors: ["--tokens no-heading.csv, line 1", "column token", "found device, badge"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens binary.p8 --title Hi",
                status: 2,
                errors: ["line 1", "not valid UTF-8"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --results /dev/full",
                status: 1,
                output: ["accepted", "3"],
                errors: ["/dev/full cannot be written", "No space left"],
                sent: toEach
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --results s"
                    + " --unregistered-tokens s",
                status: 2,
                errors: ["--results and --unregistered-tokens", "same file"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --results tokens.txt --resume",
                status: 2,
                errors: ["--results tokens.txt is the list of --tokens"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens - --payload - < tokens.txt",
                status: 2,
                errors: ["--tokens -", "--payload -"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --results r.jsonl",
                status: 2,
                errors: ["r.jsonl cannot be created", "exists", "--resume"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens missing.txt --title Hi",
                status: 2,
                errors: ["--tokens missing.txt", "No such file"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens misspelled.csv --title Hi --skip-bad-lines",
                status: 2,
                errors: ["--tokens misspelled.csv, line 1", "the column \"titel\"", "did you mean title?"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens twice.csv --title Hi --skip-bad-lines",
                status: 2,
                errors: ["--tokens twice.csv, line 1", "the column \"title\" twice"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens semicolons.csv --title Hi --skip-bad-lines",
                status: 2,
                errors: ["line 1", "separated by commas (found semicolons)"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --results never.jsonl --resume",
                status: 2,
                errors: ["--results never.jsonl", "nothing to resume"]
            ),
            Invocation(
                "send $server $device --tokens tokens.txt --title Hi",
                status: 2,
                errors: ["--tokens", "--to"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --title Hi --resume",
                status: 2,
                errors: ["--results"]
            ),
            Invocation(
                "send --host localhost:1 --topic com.example.app --tokens tokens.txt --title Hi --no-retry",
                status: 3,
                output: ["not sent"],
                errors: ["localhost:1"]
            ),
            Invocation(
                "send --host localhost:1 --topic com.example.app --tokens tokens.txt --title Hi --no-retry --json",
                status: 3,
                output: ["\"not-sent\":3", "\"error\":\"connectionFailed\""],
                json: []
            ),
            Invocation(
                "send --host localhost:$port --topic com.example.app --tokens tokens.txt --title Hi --no-retry --json",
                status: 3,
                output: ["\"error\":\"certificateRejected\"", "\"hint\":"],
                json: []
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens-bad.txt --title Hi --json",
                status: 2,
                output: ["1 bad line;"],
                json: ["error", "message"]
            ),
        ]
    )
}
