import MartletCommands
import MartletCore

extension Command {
    /// Searches for pushes in a relay.
    static let relaySearch = Command(
        "relay search",
        "Print the pushes in a relay to a device token, or with an identifier",
        examples: [
            "relay search --app orders --token 5d3a6a1c8f9a42d6 --key-file operator.key",
            "relay search --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
        ],
        Option<AppName?>("--app", "Name of the app in the relay; needed with --token when the key is for several"),
        Option<DeviceToken?>("--token", "Device token: finds pushes that have not ended, and abandoned ones"),
        Option<APNsID?>("--id", "Identifier of pushes: also finds those that have ended"),
        Option<CursorNumber?>("--after", "Only pushes after this cursor of an earlier answer"),
        RelayCaller.declared,
        OutputFormat.declared
    ) { app, token, id, after, relay, output in
        guard (token == nil) != (id == nil) else { throw UsageError("either --token or --id is needed") }
        let parameters = [
            app.map { "app=\($0.text)" }, token.map { "token=\($0.hex)" }, id.map { "id=\($0)" },
            after.map { "after=\($0.value)" }, "limit=\(searchLimit)",
        ]
        let answer = try await relay.ask("GET", "/v1/pushes?" + parameters.compactMap(\.self).joined(separator: "&"))
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
        guard pushes.count == searchLimit, let cursor = answer["cursor"]?.integerValue else { return }
        Terminal.errors.write("there may be more: repeat the command with --after \(cursor)\n")
    }

    /// The maximum number of pushes in an answer.
    private static let searchLimit = 100
}

/// A position in a list that a relay returns in parts.
struct CursorNumber: ArgumentValue {
    let value: Int64

    init(argument: String) throws(UsageError) {
        guard let value = Int64(argument), value >= 0 else {
            throw UsageError("must be a whole number of 0 or more (found \"\(argument)\")")
        }
        self.value = value
    }

    static var valueName: String { "number" }
}
