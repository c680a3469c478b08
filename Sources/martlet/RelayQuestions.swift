import APNs
import Commands
import Wire

extension Command {
    private static let asJSON = Flag("--json", "Print the relay's answer as it is")

    /// Asks a relay how it is.
    static let relayStatus = Command(
        "relay status",
        "Print what waits in a relay, what is on its way, and what rests, lane by lane",
        examples: ["relay status --key-file operator.key", "relay status --key-file operator.key --json"],
        RelayCaller.declared,
        asJSON
    ) { relay, isJSON in
        let status = try await relay.ask("GET", "/v1/status")
        guard !isJSON else { return Terminal.output.write(json: status) }
        let storage = status["storage"]
        let words = [
            "martlet \(status["version"]?.stringValue ?? ""), \(status["state"]?.stringValue ?? "")",
            "keeps pushes in \(storage?["place"]?.stringValue ?? "")",
            storage?["problem"]?.stringValue.map { "which fails: \($0)" },
        ]
        Terminal.output.write(words.compactMap(\.self).joined(separator: ", ") + "\n\n" + lanes(in: status))
        guard status["nodes"]?.elements?.isEmpty == false else { return }
        Terminal.output.write("\n" + nodes(in: status))
    }

    /// The relays that share a database.
    private static func nodes(in status: JSONValue) -> String {
        var table = Table([
            Table.Column("relay", isNumeric: true), "name", "version", Table.Column("silent", isNumeric: true),
            Table.Column("in flight", isNumeric: true), Table.Column("sent/s", isNumeric: true),
            Table.Column("delivered", isNumeric: true), "state",
        ])
        for node in status["nodes"]?.elements ?? [] {
            let silence = Double(node["silent-ms"]?.integerValue ?? 0) / 1_000
            table.add([
                node.cell("number"), node.cell("name"), node.cell("version"),
                Table.Cell("\(Int(silence.rounded())) s"), node.cell("in-flight"), node.cell("sent-per-second"),
                Table.Cell(node["outcomes"]?["delivered"]?.shown ?? ""),
                Table.Cell(node["state"]?.stringValue ?? "", node["state"] == "draining" ? .bad : .good),
            ])
        }
        return table.text(for: .output)
    }

    private static func lanes(in status: JSONValue) -> String {
        var table = Table([
            "app", "environment", Table.Column("waiting", isNumeric: true), Table.Column("oldest", isNumeric: true),
            Table.Column("in flight", isNumeric: true), Table.Column("sent/s", isNumeric: true),
            Table.Column("delivered", isNumeric: true), Table.Column("refused", isNumeric: true),
            Table.Column("dead", isNumeric: true), "state",
        ])
        let now = status["now"]?.integerValue ?? 0
        for lane in status["lanes"]?.elements ?? [] {
            let rest = lane["paused-until"]?.integerValue.map { max(0, $0 - now) / 1_000 }
            let ends = lane["outcomes"]
            table.add([
                lane.cell("app"), lane.cell("environment"), lane.cell("backlog"),
                Table.Cell(lane["oldest-seconds"].map { "\($0.shown) s" } ?? "-"), lane.cell("in-flight"),
                lane.cell("sent-per-second"), Table.Cell(ends?["delivered"]?.shown ?? ""),
                Table.Cell(ends?["refused"]?.shown ?? ""), Table.Cell(ends?["dead"]?.shown ?? ""),
                rest.map { Table.Cell("rests for \($0) s", .bad) } ?? Table.Cell("sends", .good),
            ])
        }
        return table.text(for: .output)
    }

    /// Lists a relay's apps.
    static let relayApps = Command(
        "relay apps",
        "Print the apps that a key of a relay is for",
        examples: ["relay apps --key-file operator.key"],
        RelayCaller.declared,
        asJSON
    ) { relay, isJSON in
        let answer = try await relay.ask("GET", "/v1/apps")
        guard !isJSON else { return Terminal.output.write(json: answer) }
        var table = Table(["app", "bundle identifiers", "environments", "team", "key"])
        for app in answer["apps"]?.elements ?? [] {
            table.add([
                app.cell("name"), app.cell("bundle-ids"), app.cell("environments"), app.cell("team-id"),
                app.cell("key-id"),
            ])
        }
        Terminal.output.write(table.text(for: .output))
    }

    /// Lists what was given up, or has it tried again.
    static let relayDeadLetters = Command(
        "relay dead-letters",
        "Print the pushes of an app that a relay has given up, or have them tried again",
        examples: [
            "relay dead-letters --app orders --key-file operator.key",
            "relay dead-letters requeue --app orders --key-file operator.key",
            "relay dead-letters requeue --app orders --id 123e4567-e89b-42d3-a456-426655440000",
        ],
        Argument<DeadLetterAction?>("list|requeue", "What to do with them; list when not given"),
        Option<String>("--app", "The app's name in the relay"),
        Option<[String]>("--id", "Only the push with this identifier is tried again"),
        RelayCaller.declared,
        asJSON
    ) { action, app, ids, relay, isJSON in
        let place = "/v1/apps/\(app)/dead-letters"
        if action == .requeue {
            let body: JSONValue? = ids.isEmpty ? nil : ["ids": .array(ids.map(JSONValue.string))]
            let answer = try await relay.ask("POST", place + ":requeue", body)
            guard !isJSON else { return Terminal.output.write(json: answer) }
            return Terminal.output.write("\(answer["requeued"]?.shown ?? "0") are tried again\n")
        }
        let answer = try await relay.ask("GET", place)
        guard !isJSON else { return Terminal.output.write(json: answer) }
        var table = Table(["push", "environment", Table.Column("attempts", isNumeric: true), "Apple's last answer"])
        for letter in answer["dead-letters"]?.elements ?? [] {
            let apns = letter["apns"]
            let last = [apns?["status"]?.shown, apns?["reason"]?.shown].compactMap(\.self).joined(separator: " ")
            table.add([
                letter.cell("id"), letter.cell("environment"), letter.cell("attempts"), Table.Cell(last),
            ])
        }
        Terminal.output.write(table.text(for: .output))
    }

    /// Ends a relay in order.
    static let relayDrain = Command(
        "relay drain",
        "Have a relay take no more pushes, finish what is on its way, and end",
        examples: ["relay drain --key-file operator.key", "relay drain --node 3 --key-file operator.key"],
        Option<Int?>("--node", "Number of another relay that shares the database, as relay status has it"),
        RelayCaller.declared,
        asJSON
    ) { node, relay, isJSON in
        let answer = try await relay.ask("POST", node.map { "/v1/nodes/\($0)/drain" } ?? "/v1/drain")
        if isJSON {
            Terminal.output.write(json: answer)
        } else {
            Terminal.output.write("The relay comes to its end.\n")
        }
    }
}

/// What can be done with pushes that were given up.
enum DeadLetterAction: String, CaseIterable, ArgumentValue {
    case list
    case requeue
}

extension JSONValue {
    /// A scalar, or a list of them, for people.
    fileprivate var shown: String {
        if let elements { return elements.map(\.shown).joined(separator: ", ") }
        return stringValue ?? String(decoding: encoded(), as: UTF8.self)
    }

    fileprivate func cell(_ name: String) -> Table.Cell { Table.Cell(self[name]?.shown ?? "") }
}

extension Terminal {
    fileprivate func write(json: JSONValue) {
        write(String(decoding: json.encoded(), as: UTF8.self) + "\n")
    }
}
