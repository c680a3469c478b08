// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCommands
import MartletCore

extension Command {
    /// Prints an example of a snapshot, or the list of all.
    static let surfaceExample = Command(
        "surface example",
        "Print an example of a snapshot; without a name, list the examples",
        examples: ["surface example", "surface example liveActivity > order.json", "surface example activity-paused"],
        Argument<ExampleName?>("name", "Kind of surface, or name of an example"),
        OutputFormat.declared
    ) { name, output in
        if let name { return Terminal.output.write(name.snapshot.json.line) }
        guard !output.isJSON else {
            for example in SurfaceExample.all { Terminal.output.write(example.facts.line) }
            return
        }
        var table = Table(["example", "kind", "situation"])
        for example in SurfaceExample.all {
            table.add([
                Table.Cell(example.name), Table.Cell(example.snapshot.kind.rawValue, .faint),
                Table.Cell(example.summary),
            ])
        }
        Terminal.output.write(table.text(for: .output))
    }
}

/// The name of an example, or a kind of surface.
private struct ExampleName: ArgumentValue {
    let snapshot: SurfaceSnapshot

    init(argument: String) throws(UsageError) {
        if let kind = SurfaceKind(rawValue: argument) {
            snapshot = .example(of: kind)
        } else if let example = SurfaceExample(named: argument) {
            snapshot = example.snapshot
        } else {
            let kinds = SurfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(
                "must be a kind of surface (\(kinds)) or the name of an example (found \(ShownValue.quoted(argument)))"
                    + NearestName.hint(for: argument, among: ExampleName.choices)
            )
        }
    }

    static var choices: [String] { SurfaceKind.allCases.map(\.rawValue) + SurfaceExample.all.map(\.name) }

    static var choiceSummaries: [String] {
        SurfaceKind.allCases.map { _ in "an example of this kind" } + SurfaceExample.all.map(\.summary)
    }
}

extension SurfaceExample {
    fileprivate var facts: JSONValue {
        ["name": .string(name), "kind": .string(snapshot.kind.rawValue), "summary": .string(summary)]
    }
}
