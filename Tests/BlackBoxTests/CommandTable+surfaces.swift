// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    private static let kinds = ["liveActivity", "widget", "control", "notification", "lockAccessory", "standby"]

    /// Snapshots of surfaces.
    static let surface = CommandTable(
        name: "surface",
        invocations: kinds.map { Invocation("surface example \($0) > \($0).json") }
            + kinds.map { Invocation("surface validate \($0).json", output: ["valid", $0]) }
            + kinds.map { Invocation("surface project \($0).json", output: ["bytes"]) }
            + [
                Invocation("surface example widget --json", json: ["kind"]),
                Invocation("surface example widget", on: .terminal(columns: 80), output: ["kind"]),
                Invocation("surface schema", output: ["$schema"]),
                Invocation("surface schema --json", json: ["$schema"]),
                Invocation("surface validate widget.json --json", json: ["file", "valid", "kind"]),
                Invocation("surface validate widget.json control.json", output: ["widget.json", "control.json"]),
                Invocation("surface example widget | \"$martlet\" surface validate -", output: ["valid"]),
                Invocation("surface project widget.json --json", json: []),
                Invocation("surface migrate widget.json", output: ["kind"]),
                Invocation("surface migrate widget.json --json", json: ["snapshot"]),
                Invocation("surface validate broken.json", status: 2, output: ["broken.json", "is not valid JSON"]),
                Invocation("surface validate broken.json --json", status: 2, json: ["file", "valid", "error"]),
                Invocation("surface validate - < /dev/null", status: 2, errors: ["standard input is empty"]),
                Invocation(
                    "surface validate missing.json payload.json widget.json",
                    status: 2,
                    output: ["payload.json", "widget.json: a valid"],
                    errors: ["missing.json cannot be read", "No such file"]
                ),
                Invocation("surface validate payload.json widget.json", status: 1, output: ["widget.json: a valid"]),
                Invocation(
                    "surface validate missing.json payload.json widget.json --json",
                    status: 2,
                    json: ["file", "valid"]
                ),
                Invocation("surface validate payload.json", status: 1, output: ["payload.json"]),
                Invocation("surface validate payload.json --json", status: 1, json: ["file", "valid", "issues"]),
                Invocation("surface validate missing.json", status: 2, errors: ["missing.json", "No such file"]),
                Invocation("surface validate", status: 2, errors: ["file"]),
                Invocation("surface project broken.json", status: 2, errors: ["broken.json"]),
                Invocation("surface migrate payload.json", status: 2, errors: ["payload.json"]),
                Invocation("surface example toaster", status: 2, errors: ["toaster", "widget"]),
                Invocation("surface example", output: ["activity-paused", "notification-enriched"]),
                Invocation("surface example --json", json: ["name", "kind", "summary"]),
                Invocation("surface example activity-paused > paused.json"),
                Invocation("surface example activity-completed > completed.json"),
                Invocation("surface example notification-localized > localized.json"),
                Invocation("surface example activity-pausd", status: 2, errors: ["did you mean activity-paused?"]),
                Invocation(
                    "help surface example",
                    on: .terminal(columns: 90),
                    output: ["Values of <name>", "control-link"]
                ),
                Invocation("surface validate localized.json --strings strings.json", output: ["valid"]),
                Invocation("surface validate localized.json --strings broken.json", status: 2, errors: ["broken.json"]),
                Invocation("surface validate experiment.json", status: 1, output: ["invalid_union"]),
                Invocation("surface validate --received experiment.json", output: ["skipped: the kind watchFace"]),
                Invocation(
                    "surface validate --received experiment.json --json",
                    json: ["valid", "skipped", "warnings"]
                ),
                Invocation("surface validate --received payload.json", status: 1, output: ["invalid_union"]),
                Invocation("surface categories categories.json", output: ["<string>orders.ready</string>"]),
                Invocation("surface categories categories.json --json", json: ["schemaVersion", "categories"]),
                Invocation("surface categories broken.json", status: 2, errors: ["broken.json"]),
                Invocation("surface categories", status: 2, errors: ["file"]),
                Invocation("surface smoke", output: ["wakes the app", "Shown on 1 of 1 activity"]),
                Invocation("surface smoke --url $inbox", output: ["The phone shows each of the "]),
                Invocation("surface smoke --url $inbox --json", json: ["example", "as", "verdict", "shown"]),
                Invocation("surface smoke --url localhost:1", status: 3, errors: ["martlet simulate"]),
                Invocation("surface smoke --url localhost:1 --json", status: 3, json: ["error", "message"]),
                Invocation("surface smoke surplus", status: 2, errors: ["surplus"]),
                Invocation(
                    "surface smoke --host localhost:2197",
                    status: 2,
                    errors: ["unknown option --host; this command has --url <url>: HTTP interface"]
                ),
                Invocation("surface validate widget.json --categories broken.json", status: 2, errors: ["broken.json"]),
                Invocation("send $server $device --snapshot notification.json", output: ["accepted"]),
                Invocation("send $server $device --snapshot liveActivity.json --as update", output: ["accepted"]),
                Invocation("send $server $device --snapshot liveActivity.json --as start --attributes-type Ride"),
                Invocation("send $server $device --snapshot widget.json --as dance", status: 2, errors: ["dance"]),
                Invocation("send $server $device --snapshot broken.json", status: 2, errors: ["broken.json"]),
                Invocation("send $server $device --snapshot widget.json --title Hi", status: 2, errors: ["--snapshot"]),
                Invocation("send $server $device --title Hi --as start", status: 2, errors: ["--snapshot"]),
                Invocation("send $server $device --snapshot notification.json --describe", output: [":path"]),
                Invocation(
                    "send $server $device --snapshot notification.json --priority 5 --expiration +1h --collapse-id o",
                    output: ["accepted"]
                ),
                Invocation(
                    "send $server $device --snapshot paused.json --as update --stale-date +1h --relevance-score 0.5 "
                        + "--mobile-surfaces",
                    output: ["accepted"]
                ),
                Invocation("send $server $device --snapshot completed.json --as end --priority 10"),
                Invocation(
                    "send $server $device --snapshot notification.json --stale-date +1h",
                    status: 2,
                    errors: ["--as start, update or end"]
                ),
                Invocation(
                    "send $server $device --snapshot own.json --categories categories.json",
                    output: ["accepted"]
                ),
            ]
    )
}
