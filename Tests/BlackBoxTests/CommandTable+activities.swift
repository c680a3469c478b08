// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// Live Activities.
    static let live = CommandTable(
        name: "live",
        invocations: [
            Invocation(
                "live start $server $device --attributes-type Ride --attributes '{}' --state '{\"m\":5}'"
                    + " --title T --body B",
                output: ["200"],
                sent: [
                    [
                        "apns-topic: com.example.app.push-type.liveactivity", "apns-priority: 10",
                        #""alert":{"body":"B","sound":"default","title":"T"}"#,
                        #""attributes":{},"attributes-type":"Ride","content-state":{"m":5},"event":"start""#,
                    ]
                ]
            ),
            Invocation(
                "live start $server $device --attributes-type Ride --attributes '{}' --state '{}'"
                    + " --title T --body B --json",
                output: [#""status":200"#],
                json: ["device-token", "status", "apns-id"],
                sent: [[#""content-state":{},"event":"start""#]]
            ),
            Invocation(
                "live update $server $device --state '{\"m\":4}'",
                output: ["200"],
                sent: [
                    ["apns-push-type: liveactivity", "apns-priority: 5", #""content-state":{"m":4},"event":"update""#]
                ]
            ),
            Invocation(
                "live update $server $device --state '{\"m\":4}' --json",
                output: [#""status":200"#],
                json: ["device-token", "status", "apns-id"],
                sent: [[#""content-state":{"m":4},"event":"update""#]]
            ),
            Invocation(
                "live update $server $device --state '{\"m\":3}' --title T --body B --priority 10",
                output: ["200 accepted"],
                sent: [["apns-priority: 10", #""alert":{"body":"B","sound":"default","title":"T"}"#]]
            ),
            Invocation(
                "live update $server $device --state '{\"m\":2}' --stale-date +1h --relevance-score 0.5",
                output: ["200 accepted"],
                sent: [[#""relevance-score":0.5,"stale-date":"#]]
            ),
            Invocation(
                "live update $server $device --state '{\"m\":2}'",
                on: .terminal(columns: 80),
                output: ["200"],
                sent: [[#""content-state":{"m":2}"#]]
            ),
            Invocation(
                "live end $server $device --state '{\"m\":0}' --dismiss now",
                output: ["200"],
                sent: [[#""content-state":{"m":0},"dismissal-date":1,"event":"end""#]]
            ),
            Invocation("live end $server $device", output: ["200"], sent: [[#"{"aps":{"event":"end","timestamp":"#]]),
            Invocation(
                "live end $server $device --json",
                output: [#""status":200"#],
                json: ["device-token", "status", "apns-id"],
                sent: [[#"{"aps":{"event":"end","timestamp":"#]]
            ),
            Invocation("live update $server $device", status: 2, errors: ["--state"]),
            Invocation("live update $server $device --state '[1]'", status: 2, errors: ["--state", "object"]),
            Invocation("live update $server $device --state '{'", status: 2, errors: ["--state"]),
            Invocation(
                "live update $server $device --state '{}' --stale-date soon",
                status: 2,
                errors: ["--stale-date"]
            ),
            Invocation("live update $server $device --state '{}' --relevance-score high", status: 2, errors: ["high"]),
            Invocation("live end $server $device --dismiss later", status: 2, errors: ["--dismiss", "later"]),
            Invocation(
                "live update $server --to 5d3a00dead --topic com.example.app --state '{}'",
                status: 1,
                errors: ["410"],
                sent: [["device: 5d3a00dead"]]
            ),
            Invocation(
                "live update $server --to 5d3a00dead --topic com.example.app --state '{}' --json",
                status: 1,
                output: [#""status":410"#],
                json: ["error", "message", "status"],
                sent: [["device: 5d3a00dead"]]
            ),
            Invocation(
                "live update --host localhost:1 $device --state '{}' --no-retry",
                status: 3,
                errors: ["localhost"]
            ),
            Invocation(
                "live update --host localhost:$port $device --state '{}'",
                status: 3,
                errors: ["martlet ca path"]
            ),
        ]
    )

    /// Broadcast channels.
    static let channels = CommandTable(
        name: "channels and broadcast",
        invocations: [
            Invocation("channels list $server --topic com.example.app"),
            Invocation("channels create $server --topic com.example.app > channel.txt"),
            Invocation("channels create $server --topic com.example.app --store", output: ["="]),
            Invocation("channels create $server --topic com.example.app --json", output: [#"=="}"#], json: ["channel"]),
            Invocation("channels list $server --topic com.example.app", on: .terminal(columns: 80), output: ["="]),
            Invocation(
                "channels list $server --topic com.example.app --json",
                output: [#""channels":[""#, #"==",""#],
                json: ["channels"]
            ),
            Invocation(
                "channels read $server --topic com.example.app --channel $(cat channel.txt)",
                output: ["stores nothing"]
            ),
            Invocation(
                "channels read $server --topic com.example.app --channel $(cat channel.txt) --json",
                output: [#""stores-newest":false"#],
                json: ["channel"]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --state '{\"m\":1}'",
                output: ["200 accepted"],
                sent: [
                    [
                        "channel: ", "apns-push-type: liveactivity", "apns-expiration: 0\n",
                        #""content-state":{"m":1},"event":"update""#,
                    ]
                ]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --state '{\"m\":1}' --json",
                output: [#""status":200"#],
                json: ["channel", "status"],
                sent: [[#""content-state":{"m":1},"event":"update""#]]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --state '{}' --end",
                output: ["200 accepted"],
                sent: [[#""content-state":{},"event":"end""#]]
            ),
            Invocation("surface example activity-active > order.json"),
            Invocation("surface example notification-alert > notification.json"),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --snapshot order.json "
                    + "--stale-date +1h --relevance-score 0.5 --priority 10",
                output: ["accepted"],
                sent: [
                    [
                        "apns-priority: 10", #""headline":"On its way""#,
                        #""event":"update","relevance-score":0.5,"stale-date":"#,
                    ]
                ]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --snapshot order.json --end",
                output: ["200 accepted"],
                sent: [[#""headline":"On its way""#, #""event":"end""#]]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt) --snapshot notification.json",
                status: 2,
                errors: ["(found notification)"]
            ),
            Invocation(
                "broadcast $server --topic com.example.app --channel $(cat channel.txt)",
                status: 2,
                errors: ["--state"]
            ),
            Invocation("broadcast $server --topic com.example.app --state '{}'", status: 2, errors: ["--channel"]),
            Invocation(
                "broadcast $server --topic com.example.app --channel AAAAAAAAAAAAAAAAAAAAAA== --state '{}'",
                status: 1,
                errors: ["ChannelNotRegistered"],
                sent: [["channel: AAAAAAAAAAAAAAAAAAAAAA=="]]
            ),
            Invocation("channels delete $server --topic com.example.app --channel $(cat channel.txt)"),
            Invocation(
                "channels read $server --topic com.example.app --channel $(cat channel.txt) ",
                status: 1,
                errors: ["ChannelNotRegistered"]
            ),
            Invocation(
                "channels delete $server --topic com.example.app --channel AAAAAAAAAAAAAAAAAAAAAA== --json",
                status: 1,
                output: ["ChannelNotRegistered"],
                json: ["error", "message"]
            ),
            Invocation("channels read $server --topic com.example.app", status: 2, errors: ["--channel"]),
            Invocation(
                "channels delete dHN0LXNyY2gtY2hubA== $server --topic com.example.app",
                status: 2,
                errors: ["--channel <text> is missing", "write --channel before the argument"]
            ),
            Invocation("channels list $server", status: 2, errors: ["--topic"]),
            Invocation("channels list --host localhost:1 --topic com.example.app --no-retry", status: 3),
        ]
    )
}
