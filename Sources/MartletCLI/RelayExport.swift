// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

extension Command {
    /// The maximum number of installations in an answer, whose tags alone may have 6 KB each.
    private static let exportLimit = 300

    /// Prints the installations of an app.
    static let relayExport = Command(
        "relay export",
        "Print the installations of an app with their tokens, as JSON lines that relay import reads",
        examples: [
            "relay export --app orders --key-file back-end.key > phones.jsonl",
            "relay export --app orders --key-file back-end.key --csv > phones.csv",
        ],
        Option<AppName>("--app", "Name of the app in the relay"),
        Flag("--csv", "Print CSV with a heading; fail at an installation with other tokens than the device token"),
        RelayClient.declared,
        OutputFormat.declared
    ) { app, isCSV, relay, output in
        guard !isCSV || !output.isJSON else { throw UsageError("either --csv or --json can be given, not both") }
        if isCSV { Terminal.output.write(PhoneRow.record(of: PhoneRow.heading)) }
        var cursor: Int64 = 0
        while true {
            let path = "/v1/apps/\(app.text)/installations?after=\(cursor)&limit=\(exportLimit)"
            let answer = try await relay.send("GET", path)
            let found = answer["installations"]?.elements ?? []
            guard !found.isEmpty, let next = answer["cursor"]?.integerValue else { return }
            cursor = next
            var text = ""
            // An installation without tokens receives nothing, and an import refuses it.
            for installation in found where PhoneRow.hasToken(installation) {
                guard isCSV else {
                    text += PhoneRow.line(of: installation)
                    continue
                }
                guard let record = PhoneRow.record(of: installation) else {
                    let id = installation["id"]?.stringValue ?? ""
                    throw CommandError("the installation \(id) has tokens without a column: export it without --csv")
                }
                text += record
            }
            Terminal.output.write(text)
        }
    }
}
