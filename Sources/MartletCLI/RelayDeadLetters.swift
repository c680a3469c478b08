// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

extension Command {
    /// Lists, shows, requeues and discards the dead letters of an app.
    static let relayDeadLetters = Command(
        "relay dead-letters",
        "List, show, requeue or discard the pushes of an app that a relay has abandoned",
        examples: [
            "relay dead-letters --app orders --key-file operator.key",
            "relay dead-letters show --app orders --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
            "relay dead-letters requeue --app orders --key-file operator.key",
            "relay dead-letters requeue --app orders --id 123e4567-e89b-42d3-a456-426655440000",
            "relay dead-letters discard --app orders --id 123e4567-e89b-42d3-a456-426655440000",
        ],
        Argument<DeadLetterAction?>("list|show|requeue|discard", "Action; list by default"),
        Option<AppName>("--app", "Name of the app in the relay"),
        Option<[APNsID]>("--id", "Identifier of a push to show, requeue or discard; requeue all pushes by default"),
        RelayClient.declared,
        OutputFormat.declared
    ) { action, app, ids, relay, output in
        let path = "/v1/apps/\(app.text)/dead-letters"
        if action == .requeue || action == .discard {
            guard !ids.isEmpty || action == .requeue else { throw UsageError("discard requires --id") }
            let (verb, done) = action == .discard ? ("discard", "discarded") : ("requeue", "requeued")
            let body: JSONValue? = ids.isEmpty ? nil : ["ids": .array(ids.map { .string("\($0)") })]
            let answer = try await relay.send("POST", "\(path):\(verb)", body)
            let count = Int(max(0, answer[done]?.integerValue ?? 0))
            output.write(json: answer, text: "\(count.grouped) \(done)\n")
            if let damaged = answer["damaged"]?.integerValue, !output.isJSON {
                let problem = damaged == 1 ? "1 is damaged and was" : "\(damaged.grouped) are damaged and were"
                Terminal.errors.write("\(problem) not requeued\n")
            }
            let missing = Set(ids).count - count
            guard missing > 0 else { return }
            if !output.isJSON {
                let what = ids.count == 1 ? "the push" : "\(missing.grouped) of the pushes"
                let verb = missing == 1 ? "is" : "are"
                Terminal.errors.write("\(what) of --id \(verb) not among the dead letters of \(app.text)\n")
            }
            throw CommandFailure()
        }
        if action == .show {
            guard ids.count == 1 else { throw UsageError("show requires one --id") }
            let letter = try await relay.send("GET", "\(path)/\(ids[0])")
            output.write(json: letter, text: lines(of: letter))
            return
        }
        guard ids.isEmpty else { throw UsageError("--id requires show, requeue or discard") }
        let answer = try await relay.send("GET", path)
        guard !output.isJSON else { return Terminal.output.write(answer.line) }
        var table = Table(["push", "environment", Table.Column("attempts", isNumeric: true), "Apple's last answer"])
        for letter in answer["dead-letters"]?.elements ?? [] {
            table.add([
                letter.cell("id"), letter.cell("environment"), letter.cell("attempts"), Table.Cell(letter.lastAnswer),
            ])
        }
        Terminal.output.write(table.text(for: .output))
    }

    /// Returns the members of a dead letter, one per line, and its failed attempts.
    private static func lines(of letter: JSONValue) -> String {
        let members = (letter.members ?? []).filter { $0.name != "history" }
        return members.map { "\($0.name): \($0.value.shown)\n" }.joined() + letter.failedAttempts
    }
}

extension JSONValue {
    /// The failed attempts of a push as a table; empty for a push without any.
    var failedAttempts: String {
        guard let attempts = self["history"]?["attempts"]?.elements, !attempts.isEmpty else { return "" }
        var table = Table(["failed attempt", "relay", "key", "Apple's answer, or the error"])
        for attempt in attempts {
            let answer = [attempt["status"]?.shown, attempt["reason"]?.shown].compactMap(\.self)
            table.add([
                Table.Cell(attempt.time("time")), attempt.cell("node"), attempt.cell("key-id"),
                Table.Cell(answer.joined(separator: " ")),
            ])
        }
        let omitted = self["history"]?["omitted"].map { "left out after the first attempt: \($0.shown)\n" } ?? ""
        return table.text(for: .output) + omitted
    }
}

/// The actions on abandoned pushes.
enum DeadLetterAction: String, CaseIterable, ArgumentValue {
    case list
    case show
    case requeue
    case discard
}
