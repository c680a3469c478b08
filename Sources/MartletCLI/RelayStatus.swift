// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox
import MartletRelay
import MartletTransport

extension Command {
    /// Prints the state of a relay.
    static let relayStatus = Command(
        "relay status",
        "Print the queues of a relay, and exit 1 when it cannot store pushes or a lane is down",
        examples: ["relay status --key-file operator.key", "relay status --key-file operator.key --json"],
        RelayClient.declared,
        OutputFormat.declared
    ) { relay, output in
        let status = try await relay.send("GET", "/v1/status")
        guard !output.isJSON else {
            Terminal.output.write(status.line)
            return try checkDelivery(status)
        }
        let storage = status["storage"]
        let facts = [
            "martlet \(status["version"]?.stringValue ?? ""), \(status["state"]?.stringValue ?? "")",
            "stores pushes in \(storage?["place"]?.stringValue ?? "")",
        ]
        Terminal.output.write(facts.joined(separator: ", ") + "\n" + summary(of: status) + "\n")
        Terminal.output.write(lanes(in: status) + retries(in: status))
        if status["nodes"]?.elements?.isEmpty == false {
            Terminal.output.write("\n" + nodes(in: status))
            if status["nodes-outdated-since"] != nil {
                let since = status.time("nodes-outdated-since")
                Terminal.output.write("outdated since \(since): the database does not answer\n")
            }
        }
        try checkDelivery(status)
    }

    /// Returns a line for each problem, worst first; the headline if there is none.
    private static func summary(of status: JSONValue) -> String {
        let incidents = status["incidents"]?.elements ?? []
        let lines = incidents.map { "\($0["severity"]?.shown ?? ""): \($0["text"]?.shown ?? "")\n" }
        let isUrgent = incidents.contains { $0["severity"] != "notice" }
        return (isUrgent ? "" : (status["headline"]?.shown ?? "") + "\n") + lines.joined()
    }

    /// Fails when the relay cannot store pushes, or a lane is down.
    private static func checkDelivery(_ status: JSONValue) throws {
        let isDown = (status["lanes"]?.elements ?? []).contains { $0["state"] == "down" }
        if status["storage"]?["problem"] != nil || isDown { throw CommandFailure() }
    }

    /// Returns a table of the relays that share a database.
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
                Table.Cell("\(silence.shortText) s"), count(node["in-flight"]), rate(of: node),
                count(node["outcomes"]?["delivered"]),
                Table.Cell(node["state"]?.stringValue ?? "", isRunning(node) ? .good : .bad),
            ])
        }
        return table.text(for: .output)
    }

    /// Returns whether a relay neither shuts down nor is missing.
    private static func isRunning(_ node: JSONValue) -> Bool { node["state"] == "ok" || node["state"] == "leads" }

    /// Returns a count; `unknown` while the relay cannot read it.
    static func count(_ value: JSONValue?) -> Table.Cell {
        Table.Cell(value?.integerValue?.grouped ?? "unknown")
    }

    /// Returns the pushes per second.
    private static func rate(of object: JSONValue) -> Table.Cell {
        guard case .number(let number)? = object["sent-per-second"] else { return Table.Cell("") }
        return Table.Cell(StatusText.rate(number.doubleValue))
    }

    private static func lanes(in status: JSONValue) -> String {
        var table = Table([
            "app", "environment", Table.Column("waiting", isNumeric: true), Table.Column("oldest", isNumeric: true),
            Table.Column("in flight", isNumeric: true), Table.Column("sent/s", isNumeric: true),
            Table.Column("delivered", isNumeric: true), Table.Column("refused", isNumeric: true),
            Table.Column("expired", isNumeric: true), Table.Column("dead", isNumeric: true), "state",
        ])
        let now = status["now"]?.integerValue ?? 0
        for lane in status["lanes"]?.elements ?? [] {
            let outcomes = lane["outcomes"]
            table.add([
                lane.cell("app"), lane.cell("environment"), count(lane["waiting"]),
                Table.Cell(lane["oldest-seconds"]?.integerValue.map { "\($0.grouped) s" } ?? "-"),
                count(lane["in-flight"]), rate(of: lane), count(outcomes?["delivered"]),
                count(outcomes?["refused"]), count(outcomes?["expired"]), count(outcomes?["dead"]),
                state(of: lane, at: now),
            ])
        }
        return table.text(for: .output)
    }

    /// Returns a line for each lane with pushes that are sent again, and for each with pushes behind others.
    private static func retries(in status: JSONValue) -> String {
        let now = status["now"]?.integerValue ?? 0
        let lanes = status["lanes"]?.elements ?? []
        let blocked = lanes.compactMap { lane -> String? in
            guard let count = lane["blocked"]?.integerValue, count > 0 else { return nil }
            let pushes = count.counted("push waits", "pushes wait")
            return "\(lane["app"]?.shown ?? "") \(lane["environment"]?.shown ?? ""): \(pushes) behind others\n"
        }
        let lines = lanes.compactMap { lane -> String? in
            guard let count = lane["retrying"]?.integerValue, count > 0 else { return nil }
            let since = lane["retrying-since"]?.integerValue ?? now
            let age = duration(from: since, to: now)
            let reason = lane["retry-reason"].map { "; last reason: \($0.shown)" } ?? ""
            let pushes = count.counted("push waits", "pushes wait")
            let name = "\(lane["app"]?.shown ?? "") \(lane["environment"]?.shown ?? "")"
            return "\(name): \(pushes) for another attempt, the oldest accepted \(age) ago\(reason)\n"
        }
        let all = lines + blocked
        return all.isEmpty ? "" : "\n" + all.joined()
    }

    /// Returns the state of a lane, with its pause and its last problem, or the reason if it is down or was.
    private static func state(of lane: JSONValue, at now: Int64) -> Table.Cell {
        let state = lane["state"]?.stringValue ?? ""
        switch state {
        case "delivers", "ready": return Table.Cell(state, .good)
        case "paused":
            let problem = lane["reason"].map { ", last problem: \($0.shown)" } ?? ""
            return Table.Cell((lane["manual-pause"]?.manualPause ?? state) + problem, .bad)
        case "down":
            let time = duration(from: lane["since"]?.integerValue ?? now, to: now)
            return Table.Cell("down for \(time): \(lane["reason"]?.stringValue ?? "")", .bad)
        case "not-tried":
            return Table.Cell("not tried since: \(lane["reason"]?.stringValue ?? "")", .bad)
        default: return Table.Cell(state == "not-storing" ? "not storing" : state, .bad)
        }
    }

    /// Returns the time between two times in milliseconds, which come from the relay and may be any numbers.
    private static func duration(from start: Int64, to end: Int64) -> String {
        let (milliseconds, overflows) = end.subtractingReportingOverflow(start)
        return StatusText.duration(overflows ? .max : milliseconds)
    }

    /// Lists the apps of a relay.
    static let relayApps = Command(
        "relay apps",
        "Print the apps that an API key can use",
        examples: ["relay apps --key-file operator.key"],
        RelayClient.declared,
        OutputFormat.declared
    ) { relay, output in
        let answer = try await relay.send("GET", "/v1/apps")
        guard !output.isJSON else { return Terminal.output.write(answer.line) }
        var table = Table(["app", "bundle identifiers", "environments", "team", "key"])
        for app in answer["apps"]?.elements ?? [] {
            table.add([
                app.cell("name"), app.cell("bundle-ids"), app.cell("environments"), app.cell("team-id"),
                app.cell("key-id"),
            ])
        }
        Terminal.output.write(table.text(for: .output))
    }

    /// Drains a relay.
    static let relayDrain = Command(
        "relay drain",
        "Make a relay stop accepting pushes, finish those in flight, and exit",
        examples: ["relay drain --key-file operator.key", "relay drain --node 3 --key-file operator.key"],
        Option<Int?>("--node", "Number of another relay that shares the database, from relay status"),
        RelayClient.declared,
        OutputFormat.declared
    ) { node, relay, output in
        let answer = try await relay.send("POST", node.map { "/v1/nodes/\($0)/drain" } ?? "/v1/drain")
        output.write(json: answer, text: "The relay is shutting down.\n")
    }
    .neverSuggested()
}

extension JSONValue {
    /// A scalar, or a list of scalars, as text.
    var shown: String {
        if let elements { return elements.map(\.shown).joined(separator: ", ") }
        return (stringValue ?? String(decoding: encoded(), as: UTF8.self)).escapingControls
    }

    func cell(_ name: String) -> Table.Cell { Table.Cell(self[name]?.shown ?? "") }

    /// Returns a line for each of these members that is not missing.
    ///
    /// Those whose names end with `-at` are times in milliseconds since 1970.
    func lines(of names: [String]) -> String {
        let lines = names.compactMap { name in
            self[name].map { "\(name): \(name.hasSuffix("-at") ? time(name) : $0.shown)\n" }
        }
        return lines.joined()
    }

    /// The status and reason of Apple's last answer to a push, or why the push or the request was not carried out;
    /// empty if there is none.
    var lastAnswer: String {
        if let detail = self["problem"]?["detail"] { return detail.shown }
        return switch self["apns"]?["reason"]?.stringValue {
        case Outcome.damagedReason: "Not sent: its stored data is damaged"
        case Outcome.formerUserReason: "Not sent: its user does not have the token any more"
        default:
            [self["apns"]?["status"]?.shown, self["apns"]?["reason"]?.shown].compactMap(\.self).joined(separator: " ")
        }
    }
}
