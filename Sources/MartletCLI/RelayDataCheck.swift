// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox
import MartletTransport
import Synchronization

extension Command {
    /// Compares every stored push of a relay with its checksum.
    static let relayDataCheck = Command(
        "relay data check",
        "Read all stored pushes of a relay and find those that its disk has changed; exit 0 when there are none",
        examples: [
            "relay data check --configuration relay.json",
            "relay data check --data /var/lib/martlet/relay.sqlite.backup",
        ],
        RelayOptions.configurationFile,
        Option<FilePath?>(
            "--data",
            "SQLite file of a stopped relay, or database, in place of the configuration's",
            variable: "MARTLET_RELAY_DATA"
        ),
        OutputFormat.declared
    ) { configuration, data, output in
        let location = try data.map { OutboxLocation($0.path) } ?? RelayOptions.location(in: configuration)
        if let rule = location.violatedRule { throw UsageError("data \(rule)") }
        // Otherwise a missing file would have the status of a database that cannot be reached.
        if case .file(let path) = location { _ = try FileContents.start(of: path, byteCount: 1) }
        let check = try await run(on: location)
        output.write(json: check.json(location), text: check.text(location))
        if !check.isSound { throw CommandFailure() }
    }

    /// Checks an outbox and shows the progress, which ends with the scope of `async let`.
    private static func run(on location: OutboxLocation) async throws -> OutboxCheck {
        let latest = Mutex(OutboxCheck())
        async let _ = Terminal.errors.showProgress {
            let check = latest.withLock(\.self)
            return "\(check.pushes.counted("push")) read, \(check.damaged.grouped) damaged, " + check.step
        }
        return try OutboxCheck.run(on: location) { check in latest.withLock { $0 = check } }
    }
}

extension OutboxCheck {
    fileprivate func json(_ location: OutboxLocation) -> JSONValue {
        [
            "data": .string("\(location)"), "is-sound": .bool(isSound), "waiting": .integer(waiting),
            "dead-letters": .integer(deadLetters), "damaged": .integer(damaged), "outcomes": .integer(outcomes),
            "installations": .integer(installations), "tickets": .integer(tickets), "jobs": .integer(jobs),
            "surfaces": .integer(surfaces), "surface-sessions": .integer(sessions),
            "sealing-key": sealingKey.map { JSONValue.integer($0) } ?? .null, "has-plain-rows": .bool(hasPlainRows),
            "problems": .array(problems.map { .string($0) }),
            "damaged-pushes": .array(damagedPushes.map(\.json)),
        ]
    }

    fileprivate func text(_ location: OutboxLocation) -> String {
        var lines = problems.map { "problem: \($0)" }
        lines += damagedPushes.map { push in
            let parts = push.parts.map(\.rawValue).joined(separator: ", ")
            return "damaged: push \(push.id.map { "\($0)" } ?? "without identifier") in row \(push.number): \(parts)"
        }
        if damaged > damagedPushes.count { lines.append("… and \((damaged - damagedPushes.count).grouped) more") }
        lines.append(
            "\(waiting.counted("waiting push")), \(deadLetters.counted("dead letter")), "
                + "\(outcomes.counted("outcome")), \(installations.counted("installation")), "
                + "\(tickets.counted("ticket")), \(jobs.counted("job")), \(surfaces.counted("surface")) with "
                + "\(sessions.counted("session")). Damaged pushes: \(damaged.grouped)."
        )
        if let sealingKey {
            let rest = hasPlainRows ? "; the next start of a relay seals the rows that are not" : ""
            lines.append("The outbox is sealed with the key \(sealingKey)\(rest).")
        }
        lines.append("\(location) is \(isSound ? "sound" : "damaged").")
        return lines.joined(separator: "\n") + "\n"
    }
}

extension OutboxCheck.DamagedPush {
    fileprivate var json: JSONValue {
        [
            "id": id.map { JSONValue.string("\($0)") } ?? .null, "row": .integer(number),
            "parts": .array(parts.map { .string($0.rawValue) }),
        ]
    }
}
