// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

extension Command {
    /// Searches for pushes in a relay.
    static let relaySearch = Command(
        "relay search",
        "Find pushes in a relay by device token or identifier",
        examples: [
            "relay search --app orders --token 5d3a6a1c8f9a42d6 --key-file operator.key",
            "relay search --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
        ],
        Option<AppName?>("--app", "Name of the app in the relay; required with --token if the key has several apps"),
        Option<DeviceToken?>("--token", "Device token of waiting, sent or abandoned pushes"),
        Option<APNsID?>("--id", "Identifier of a push, ended or not"),
        Option<NonnegativeNumber?>("--after", "Cursor of an earlier answer, after which the list continues"),
        RelayClient.declared,
        OutputFormat.declared
    ) { app, token, id, after, relay, output in
        guard (token == nil) != (id == nil) else { throw UsageError("either --token or --id is required") }
        let parameters = [
            app.map { "app=\($0.text)" }, token.map { "token=\($0.hex)" }, id.map { "id=\($0)" },
            after.map { "after=\($0.value)" }, "limit=\(searchLimit)",
        ]
        let answer = try await relay.send("GET", "/v1/pushes?" + parameters.compactMap(\.self).joined(separator: "&"))
        guard !output.isJSON else { return Terminal.output.write(answer.line) }
        var table = Table(["push", "app", "environment", "state", "Apple's last answer"])
        let pushes = answer["pushes"]?.elements ?? []
        for push in pushes {
            table.add([
                push.cell("id"), push.cell("app"), push.cell("environment"), push.cell("state"),
                Table.Cell(push.lastAnswer),
            ])
        }
        Terminal.output.write(table.text(for: .output))
        if id != nil {
            for push in pushes {
                Terminal.output.write(push.lines(of: ["surface", "installation", "cause"]) + push.failedAttempts)
            }
        }
        guard pushes.count == searchLimit, let cursor = answer["cursor"]?.integerValue else { return }
        reportMore("--after", cursor)
    }

    /// Reports that a list may continue at a cursor, which an option takes.
    static func reportMore(_ option: String, _ cursor: Int64) {
        Terminal.errors.write("there may be more: repeat the command with \(option) \(cursor)\n")
    }

    /// The maximum number of pushes in an answer.
    private static let searchLimit = 100
}
