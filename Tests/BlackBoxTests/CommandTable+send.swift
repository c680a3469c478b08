// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// The payload of `--title Hi`.
    static let hi = #"{"aps":{"alert":{"title":"Hi"}}}"#
    /// The payload of the file payload.json.
    private static let orderReady =
        #"{"aps":{"alert":{"body":"Tap","title":"Order ready"},"sound":"default"},"order":7}"#

    /// Single notifications.
    static let send = CommandTable(
        name: "send",
        invocations: [
            Invocation(
                "send $server $device --title Hi",
                output: ["200", "accepted", "5d3a6a1c…"],
                sent: [
                    [
                        "device: \(World.device)", "apns-topic: com.example.app", "apns-push-type: alert",
                        "apns-priority: 10", hi,
                    ]
                ]
            ),
            Invocation(
                "send $server $device --title Hi --json",
                output: [#""status":200"#],
                json: ["device-token", "status", "apns-id"],
                sent: [[hi]]
            ),
            Invocation(
                "send $server $device --title Hi",
                on: .terminal(columns: 100),
                output: ["accepted"],
                sent: [[hi]]
            ),
            Invocation(
                "send $server $device --title Hi --body There --subtitle S --badge 3 --sound default",
                output: ["accepted"],
                sent: [[#"{"aps":{"alert":{"body":"There","subtitle":"S","title":"Hi"},"badge":3,"sound":"default"}}"#]]
            ),
            Invocation(
                "send $server $device --title Hi --thread-id t --category c --collapse-id x",
                output: ["accepted"],
                sent: [["apns-collapse-id: x", #""category":"c","thread-id":"t""#]]
            ),
            Invocation(
                "send $server $device --title Hi --interruption-level time-sensitive",
                output: ["accepted"],
                sent: [[#""interruption-level":"time-sensitive""#]]
            ),
            Invocation(
                "send $server $device --background --custom '{\"sync\":true}'",
                output: ["accepted"],
                sent: [
                    ["apns-push-type: background", "apns-priority: 5", #"{"aps":{"content-available":1},"sync":true}"#]
                ]
            ),
            Invocation(
                "send $server $device --payload payload.json",
                output: ["accepted"],
                sent: [["apns-push-type: alert", orderReady]]
            ),
            Invocation("send $server $device --payload - < payload.json", output: ["accepted"], sent: [[orderReady]]),
            Invocation(
                "send $server $device --payload '{\"aps\":{\"alert\":\"Tap\"}}'",
                output: ["accepted"],
                sent: [[#"{"aps":{"alert":"Tap"}}"#]]
            ),
            Invocation(
                "send $server $device --payload '{\"secret-name\":}'",
                status: 2,
                errors: ["--payload is not valid JSON"]
            ),
            Invocation(
                "send $server $device --title Hi --expiration 0",
                output: ["accepted"],
                sent: [["apns-expiration: 0\n"]]
            ),
            Invocation(
                "send $server $device --title Hi --expiration +1h",
                output: ["accepted"],
                sent: [["apns-expiration: "]]
            ),
            Invocation(
                "send $server $device --title Hi --expiration 2030-01-01T00:00:00Z",
                output: ["accepted"],
                sent: [["apns-expiration: 1893456000"]]
            ),
            Invocation(
                "send $server $device --title Hi --priority 5",
                output: ["accepted"],
                sent: [["apns-priority: 5"]]
            ),
            Invocation("send $server $device --title Hi --no-retry", output: ["accepted"], sent: [[hi]]),
            Invocation(
                "send $server $device --title Hi --to 5d3a00dead",
                status: 1,
                output: ["200", "410", "Unregistered"],
                sent: [["device: \(World.device)"], ["device: 5d3a00dead"]]
            ),
            Invocation(
                "send $server --to 5d3a000400 --topic com.example.app --title Hi",
                status: 1,
                output: ["400"],
                sent: [["device: 5d3a000400"]]
            ),
            Invocation(
                "send $server --to 5d3a000403 --topic com.example.app --title Hi",
                status: 1,
                output: ["403"],
                sent: [["device: 5d3a000403"]]
            ),
            Invocation(
                "send $server --to 5d3a000413 --topic com.example.app --title Hi",
                status: 1,
                output: ["413"],
                sent: [["device: 5d3a000413"]]
            ),
            Invocation(
                "send $server --to 5d3a000503 --topic com.example.app --title Hi --no-retry",
                status: 1,
                output: ["503"],
                sent: [["device: 5d3a000503"]]
            ),
            Invocation(
                "send $server --to 5d3a00dead --topic com.example.app --title Hi --json",
                status: 1,
                output: [#""status":410"#],
                json: ["device-token", "status", "reason", "error", "message"],
                sent: [["device: 5d3a00dead"]]
            ),
            Invocation(
                "send $server --to 5d3a000403 --topic com.example.app --title Hi",
                status: 1,
                on: .terminal(columns: 80),
                output: ["403", "InvalidProviderToken"],
                sent: [["device: 5d3a000403"]]
            ),
            Invocation(
                "send $server $device --push-type alert --unchecked --payload payload.json",
                output: ["accepted"],
                sent: [["apns-push-type: alert", orderReady]]
            ),
            Invocation("send $server $device --title Hi --describe", output: [":path", "bytes"]),
            Invocation(
                "send $server $device --title Hi --describe --json",
                output: [#"":path":"/3/device/5d3a6a1c8f9a42d6"#, #""apns-priority":"10""#, #""bytes-left":4064"#],
                json: ["payload"]
            ),
            Invocation("send $device --title Hi --describe", output: [":path"]),
            Invocation("send --environment production $device --title Hi --describe", output: [":path"]),
            Invocation("send $device --title Hi --badge -1 --describe", status: 2, errors: ["--badge", "0 or more"]),
            Invocation("send $server $device --title Hi --badge -1", status: 2, errors: ["--badge", "0 or more"]),
            Invocation(
                "send $server $device --payload badge.json",
                output: ["accepted"],
                errors: ["badge must be 0 or more"],
                sent: [[#""badge":-1"#]]
            ),
            Invocation("send $device --payload badge.json --describe", output: ["error: payload/aps/badge"]),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --payload badge.json --dry-run",
                output: ["in the list", "3"]
            ),
            Invocation(
                "send $device --push-type liveactivity --payload payload.json --describe",
                output: ["error: payload/aps"]
            ),
            Invocation(
                "send $server $device --push-type liveactivity --payload payload.json",
                output: ["accepted"],
                sent: [["apns-push-type: liveactivity", "apns-topic: com.example.app.push-type.liveactivity"]]
            ),
            Invocation(
                "send $server $device --push-type background --payload payload.json --priority 10",
                status: 1,
                output: ["not sent: a background push must have priority 5, not 10"]
            ),
            Invocation(
                "send $device --push-type background --payload payload.json --priority 10 --describe",
                status: 1,
                output: ["APNs refuses"]
            ),
            Invocation(
                "send $server --topic com.example.app --tokens tokens.txt --push-type background "
                    + "--payload payload.json --priority 10 --dry-run",
                status: 1,
                output: ["priority"]
            ),
            Invocation("send $server $device --background --priority 10", status: 2, errors: ["--priority"]),
            Invocation(
                "send $server --to 5d3a --to xyz --to 5d3b --topic com.example.app --title Hi",
                status: 2,
                errors: ["--to <token> (number 2)", "hexadecimal"]
            ),
            Invocation(
                "send $device --title Hi --key missing.p8",
                status: 2,
                errors: ["--key missing.p8", "No such file"]
            ),
            Invocation("send $device --title Hi ", status: 2, errors: ["--key or --certificate is missing"]),
            Invocation("send $server --topic com.example.app --title Hi", status: 2, errors: ["--to"]),
            Invocation("send $server --to 5d3a6a1c --title Hi", status: 2, errors: ["--topic"]),
            Invocation(
                "send $server --to xyz --topic com.example.app --title Hi",
                status: 2,
                errors: ["--to", "hexadecimal"]
            ),
            Invocation("send $server $device", status: 2, errors: ["--title"]),
            Invocation("send $server $device --title Hi --badge many", status: 2, errors: ["--badge", "many"]),
            Invocation("send $server $device --title Hi --badge 99999999999999999999", status: 2, errors: ["--badge"]),
            Invocation(
                "send $server $device --title Hi --priority 7",
                status: 2,
                errors: ["--priority <10|5|1>: must be one of 10, 5, 1 (found \"7\")\n"]
            ),
            Invocation("send --topic --to 5d3a6a1c --title Hi", status: 2, errors: ["--topic <text> requires a value"]),
            Invocation("send $server $device --title --json", status: 2, errors: ["--title <text> requires a value"]),
            Invocation(
                "send $server $device --payload - < /dev/null",
                status: 2,
                errors: ["--payload standard input is empty"]
            ),
            Invocation("send $server $device --title Hi --custom '{'", status: 2, errors: ["--custom"]),
            Invocation("send $server $device --title Hi --custom 7", status: 2, errors: ["--custom", "object"]),
            Invocation("send $server $device --title Hi --custom '{\"aps\":{}}'", status: 2, errors: ["aps"]),
            Invocation("send $server $device --title Hi --custom '{' --json", status: 2, json: ["error", "message"]),
            Invocation(
                "send $server $device --title Hi --expiration soon",
                status: 2,
                errors: ["--expiration", "soon"]
            ),
            Invocation("send $server $device --title Hi --interruption-level loud", status: 2, errors: ["loud"]),
            Invocation(
                "send $server $device --push-type carrier --payload payload.json",
                status: 2,
                errors: ["carrier"]
            ),
            Invocation("send $server $device --payload broken.json", status: 2, errors: ["broken.json"]),
            Invocation(
                "send $server $device --payload missing.json",
                status: 2,
                errors: ["missing.json", "No such file"]
            ),
            Invocation("send $server $device --payload $directory", status: 2, errors: ["directory"]),
            Invocation("send $server $device --title Hi --rate 5", status: 2, errors: ["--tokens"]),
            Invocation(
                "send --host ftp://x $device --title Hi",
                status: 2,
                errors: ["must be a host such as localhost:2197, with https:// or http:// or without"]
            ),
            Invocation(
                "send $server $device --payload - < .",
                status: 2,
                errors: ["--payload standard input cannot be read: Is a directory"]
            ),
            Invocation(
                "send $device --payload deep.json --describe",
                status: 2,
                errors: ["--payload deep.json cannot be used", "deeper than 64 levels"]
            ),
            Invocation("send $device --title Hi --expiration 2030-01-01", status: 2, errors: ["a date and time"]),
            Invocation(
                "send $device --title Hi --describe --collapse-id "
                    + "12345678901234567890123456789012345678901234567890123456789012345",
                status: 2,
                errors: ["--collapse-id"]
            ),
            Invocation("send $server $device --title", status: 2, errors: ["--title"]),
            Invocation("send $server $device --title Hi surplus", status: 2, errors: ["surplus"]),
            Invocation("send $device --title Hi", status: 2, errors: ["--key"]),
            Invocation(
                "send $server $device --title Hi --key missing.p8 --key-id ABC123DEFG --team-id DEF123GHIJ",
                status: 2,
                errors: ["missing.p8", "No such file"]
            ),
            Invocation("send $server $device --title Hi --key AuthKey_ABC123DEFG.p8", status: 2, errors: ["--team-id"]),
            Invocation(
                "send $server $device --title Hi --key AuthKey_BAD1234567.p8 --team-id DEF123GHIJ",
                status: 2,
                errors: ["AuthKey_BAD1234567.p8"]
            ),
            Invocation(
                "send $server $device --title Hi --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
                output: ["accepted"],
                sent: [[hi]]
            ),
            Invocation(
                "send --host localhost:1 $device --title Hi --no-retry",
                status: 3,
                output: ["connection refused"]
            ),
            Invocation(
                "send --host localhost:1 $device --title Hi --no-retry --json",
                status: 3,
                json: ["error", "message"]
            ),
            Invocation(
                "send --host nowhere.invalid:443 $device --title Hi --no-retry",
                status: 3,
                output: ["nowhere.invalid does not resolve"]
            ),
            Invocation(
                "send --host localhost:$port $device --title Hi",
                status: 3,
                output: ["is not trusted"],
                errors: ["martlet ca path"]
            ),
            Invocation(
                "send --host http://localhost:$port $device --title Hi --no-retry",
                status: 3,
                output: ["closed the connection"],
                errors: ["if the server uses TLS, give --host localhost:", "without http://"]
            ),
            Invocation(
                "send --host localhost:$inboxport $device --title Hi --no-retry",
                status: 3,
                output: ["TLS handshake"],
                errors: ["if the server does not use TLS, give --host http://localhost:"]
            ),
            Invocation(
                "send --host localhost:$port --ca broken.json $device --title Hi",
                status: 2,
                errors: ["--ca broken.json", "PEM"]
            ),
            Invocation("send --host localhost:99999 $device --title Hi", status: 2, errors: ["99999"]),
            Invocation("send --host 'a b' $device --title Hi", status: 2, errors: ["--host"]),
            Invocation(
                "send --host localhost:$port --ca missing.pem $device --title Hi",
                status: 2,
                errors: ["missing.pem"]
            ),
        ]
    )
}
