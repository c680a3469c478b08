// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    private static let kinds = ["liveActivity", "widget", "control", "notification", "lockAccessory", "standby"]

    /// Snapshots of surfaces.
    static let surface = CommandTable(
        name: "surface",
        invocations: examples + others
    )

    /// An example of each kind, written to a file, checked and projected.
    private static let examples: [Invocation] =
        kinds.map { Invocation("surface example \($0) > \($0).json") }
        + kinds.map { Invocation("surface validate \($0).json", output: ["a valid snapshot of the kind \($0)"]) }
        + kinds.map { Invocation("surface project \($0).json", output: ["bytes", "order-17-\($0)"]) }

    private static let others: [Invocation] = [
        Invocation(
            "surface example widget --json",
            output: [#""kind":"widget""#, #""state":"active""#],
            json: ["kind"]
        ),
        Invocation(
            "surface example widget",
            on: .terminal(columns: 80),
            output: [#""kind":"widget""#, #""state":"active""#]
        ),
        Invocation("surface schema", output: [#""$id":"urn:martlet:surface-snapshot:5""#]),
        Invocation(
            "surface schema --json",
            output: [#""$id":"urn:martlet:surface-snapshot:5""#],
            json: ["$schema"]
        ),
        Invocation(
            "surface validate widget.json --json",
            output: [#""valid":true,"kind":"widget""#],
            json: ["file", "valid", "kind"]
        ),
        Invocation(
            "surface validate widget.json control.json",
            output: ["widget.json: a valid snapshot", "control.json: a valid snapshot"]
        ),
        Invocation(
            "surface example widget | \"$martlet\" surface validate -",
            output: ["-: a valid snapshot of the kind widget"]
        ),
        Invocation(
            "surface project widget.json --json",
            output: [#""entry":{"schemaVersion":"5","kind":"widget""#],
            json: []
        ),
        Invocation("surface migrate widget.json", output: [#"{"schemaVersion":"5""#, #""kind":"widget""#]),
        Invocation(
            "surface migrate widget.json --json",
            output: [#""snapshot":{"schemaVersion":"5""#],
            json: ["snapshot"]
        ),
        Invocation("surface validate broken.json", status: 2, output: ["broken.json", "is not valid JSON"]),
        Invocation(
            "surface validate broken.json --json",
            status: 2,
            output: [#""valid":false"#, #""code":"invalid_json""#],
            json: ["file", "valid", "error"]
        ),
        Invocation("surface validate - < /dev/null", status: 2, errors: ["standard input is empty"]),
        Invocation(
            "surface validate missing.json payload.json widget.json",
            status: 2,
            output: ["payload.json", "widget.json: a valid"],
            errors: ["missing.json cannot be read", "No such file"]
        ),
        Invocation(
            "surface validate payload.json widget.json",
            status: 1,
            output: ["payload.json: kind: is missing", "widget.json: a valid"]
        ),
        Invocation(
            "surface validate missing.json payload.json widget.json --json",
            status: 2,
            output: [#""file":"payload.json","valid":false"#, #""file":"widget.json","valid":true"#],
            json: ["file", "valid"]
        ),
        Invocation(
            "surface validate payload.json",
            status: 1,
            output: ["payload.json: kind: is missing: it must be one of liveActivity"]
        ),
        Invocation(
            "surface validate payload.json --json",
            status: 1,
            output: [#""path":["kind"],"code":"invalid_union""#],
            json: ["file", "valid", "issues"]
        ),
        Invocation("surface validate missing.json", status: 2, errors: ["missing.json", "No such file"]),
        Invocation("surface validate", status: 2, errors: ["file"]),
        Invocation("surface project broken.json", status: 2, errors: ["broken.json"]),
        Invocation("surface migrate payload.json", status: 2, errors: ["payload.json"]),
        Invocation("surface example toaster", status: 2, errors: ["toaster", "widget"]),
        Invocation("surface example", output: ["activity-paused", "notification-enriched"]),
        Invocation(
            "surface example --json",
            output: [#""name":"activity-paused","kind":"liveActivity""#],
            json: ["name", "kind", "summary"]
        ),
        Invocation("surface example activity-paused > paused.json"),
        Invocation("surface example activity-completed > completed.json"),
        Invocation("surface example notification-localized > localized.json"),
        Invocation("surface example activity-pausd", status: 2, errors: ["did you mean activity-paused?"]),
        Invocation(
            "help surface example",
            on: .terminal(columns: 90),
            output: ["Values of <name>", "control-link"]
        ),
        Invocation(
            "surface validate localized.json --strings strings.json",
            output: ["localized.json: a valid snapshot"]
        ),
        Invocation("surface validate localized.json --strings broken.json", status: 2, errors: ["broken.json"]),
        Invocation("surface validate experiment.json", status: 1, output: ["kind: must be one of"]),
        Invocation("surface validate --received experiment.json", output: ["skipped: the kind watchFace"]),
        Invocation(
            "surface validate --received experiment.json --json",
            output: [#""skipped":true"#, "the kind watchFace"],
            json: ["valid", "skipped", "warnings"]
        ),
        Invocation("surface validate --received payload.json", status: 1, output: ["kind: is missing"]),
        Invocation("surface categories categories.json", output: ["<string>orders.ready</string>"]),
        Invocation(
            "surface categories categories.json --json",
            output: [#""id":"orders.ready""#],
            json: ["schemaVersion", "categories"]
        ),
        Invocation("surface categories broken.json", status: 2, errors: ["broken.json"]),
        Invocation("surface categories", status: 2, errors: ["file"]),
        Invocation("surface smoke", output: ["wakes the app", "Shown on 1 of 1 activity"]),
        Invocation("surface smoke --url $inbox", output: ["The phone shows each of the "], sent: nil),
        Invocation(
            "surface smoke --url $inbox --json",
            output: [#""example":"activity-paused""#, #""shown":true"#],
            json: ["example", "as", "verdict", "shown"],
            sent: nil
        ),
        Invocation("surface smoke --url localhost:1", status: 3, errors: ["martlet simulate"]),
        Invocation("surface smoke --url localhost:1 --json", status: 3, json: ["error", "message"]),
        Invocation("surface smoke surplus", status: 2, errors: ["surplus"]),
        Invocation(
            "surface smoke --host localhost:2197",
            status: 2,
            errors: ["unknown option --host; this command has --url <url>: HTTP interface"]
        ),
        Invocation("surface validate widget.json --categories broken.json", status: 2, errors: ["broken.json"]),
        Invocation(
            "send $server $device --snapshot notification.json",
            output: ["accepted"],
            sent: [["apns-push-type: alert", #""title":"On its way""#, #""kind":"surface_snapshot""#]]
        ),
        Invocation(
            "send $server $device --snapshot liveActivity.json --as update",
            output: ["accepted"],
            sent: [["apns-push-type: liveactivity", #""headline":"On its way""#, #""event":"update""#]]
        ),
        Invocation(
            "send $server $device --snapshot liveActivity.json --as start --attributes-type Ride",
            output: ["accepted"],
            sent: [[#""attributes-type":"Ride""#, #""headline":"On its way""#, #""event":"start""#]]
        ),
        Invocation("send $server $device --snapshot widget.json --as dance", status: 2, errors: ["dance"]),
        Invocation("send $server $device --snapshot broken.json", status: 2, errors: ["broken.json"]),
        Invocation("send $server $device --snapshot widget.json --title Hi", status: 2, errors: ["--snapshot"]),
        Invocation("send $server $device --title Hi --as start", status: 2, errors: ["--snapshot"]),
        Invocation(
            "send $server $device --snapshot notification.json --describe",
            output: ["apns-push-type: alert", #""kind":"surface_snapshot""#]
        ),
        Invocation(
            "send $server $device --snapshot notification.json --priority 5 --expiration +1h --collapse-id o",
            output: ["accepted"],
            sent: [["apns-priority: 5", "apns-collapse-id: o", "apns-expiration: "]]
        ),
        Invocation(
            "send $server $device --snapshot paused.json --as update --stale-date +1h --relevance-score 0.5 "
                + "--mobile-surfaces",
            output: ["accepted"],
            sent: [
                [
                    #""headline":"The courier is waiting""#,
                    #""event":"update","relevance-score":0.5,"stale-date":"#,
                ]
            ]
        ),
        Invocation(
            "send $server $device --snapshot completed.json --as end --priority 10",
            output: ["accepted"],
            sent: [["apns-priority: 10", #""headline":"Delivered""#, #""dismissal-date":1,"event":"end""#]]
        ),
        Invocation(
            "send $server $device --snapshot notification.json --stale-date +1h",
            status: 2,
            errors: ["--as start, update or end"]
        ),
        Invocation(
            "send $server $device --snapshot own.json --categories categories.json",
            output: ["accepted"],
            sent: [[#""alert":{"body":"","title":"Ready"},"category":"orders.ready""#]]
        ),
    ]
}
