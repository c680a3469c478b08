// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

extension Command {
    /// Lists, shows and cancels the jobs of an app.
    static let relayJobs = Command(
        "relay jobs",
        "List, show or cancel the jobs of an app, each of which sends a push to many phones",
        examples: [
            "relay jobs --app orders --key-file operator.key",
            "relay jobs show --app orders --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
            "relay jobs cancel --app orders --id 123e4567-e89b-42d3-a456-426655440000 --key-file back-end.key",
        ],
        Argument<JobAction?>("list|show|cancel", "Action; list by default"),
        Option<AppName>("--app", "Name of the app in the relay"),
        Option<APNsID?>("--id", "Identifier of the job to show or cancel"),
        Option<PositiveNumber?>("--before", "Cursor of an earlier answer, before which the list continues"),
        RelayClient.declared,
        OutputFormat.declared
    ) { action, app, id, before, relay, output in
        let path = "/v1/apps/\(app.text)/jobs"
        guard let action, action != .list else {
            guard id == nil else { throw UsageError("--id requires show or cancel") }
            let answer = try await relay.send("GET", path + (before.map { "?before=\($0.value)" } ?? ""))
            guard !output.isJSON else { return Terminal.output.write(answer.line) }
            Terminal.output.write(jobTable(answer["jobs"]?.elements ?? []))
            // The newest jobs are first, and the last page has no cursor.
            if let cursor = answer["cursor"]?.integerValue { reportMore("--before", cursor) }
            return
        }
        guard let id else { throw UsageError("\(action.rawValue) requires --id") }
        guard before == nil else { throw UsageError("--before requires list") }
        guard action == .cancel else {
            let job = try await relay.send("GET", "\(path)/\(id)")
            return output.write(json: job, text: job.progress)
        }
        // A job that has ended without being cancelled is answered with its progress, too.
        let job = try await relay.send("DELETE", "\(path)/\(id)", within: purgeTime, orStatus: 409)
        output.write(json: job, text: job.progress)
        guard job["state"] != "cancelled" else { return }
        if !output.isJSON { Terminal.errors.write("the job has ended without being cancelled\n") }
        throw CommandFailure()
    }

    /// Returns a table of jobs, with the text of any length in the last column.
    private static func jobTable(_ jobs: [JSONValue]) -> String {
        var table = Table([
            "job", "created", "state", Table.Column("matched", isNumeric: true),
            Table.Column("stored", isNumeric: true), Table.Column("waiting", isNumeric: true), "outcomes", "audience",
        ])
        for job in jobs {
            let outcomes = (job["outcomes"]?.members ?? []).map { outcome in
                "\(outcome.value.integerValue?.grouped ?? outcome.value.shown) \(outcome.name)"
            }
            table.add([
                job.cell("id"), Table.Cell(job.time("created-at")), job.cell("state"), count(job["matched"]),
                count(job["stored"]), count(job["waiting"]), Table.Cell(outcomes.joined(separator: ", ")),
                job.cell("audience"),
            ])
        }
        return table.text(for: .output)
    }
}

extension JSONValue {
    /// The facts about a job, one per line, and a table of its phones: each has a push, or is left out.
    fileprivate var progress: String {
        var table = Table(["progress", Table.Column("phones", isNumeric: true)])
        func add(_ name: String, _ value: JSONValue?) { table.add([Table.Cell(name), Command.count(value)]) }
        add("matched", self["matched"])
        for reason in self["left-out"]?.members ?? [] { add("left out: \(reason.name)", reason.value) }
        add("stored", self["stored"])
        add("waiting", self["waiting"])
        for outcome in self["outcomes"]?.members ?? [] { add(outcome.name, outcome.value) }
        let facts = ["id", "state", "problem", "audience", "created-at", "starts-at", "ended-at"]
        return lines(of: facts) + table.text(for: .output)
    }
}

/// The actions on jobs.
enum JobAction: String, CaseIterable, ArgumentValue {
    case list
    case show
    case cancel
}
